# bug: B04
import torch
import torch.nn.functional as F
from torch import nn


class TextCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(30, 8)
        self.conv = nn.Conv1d(8, 6, 3)
        self.fc = nn.Linear(6, 2)

    def forward(self, x):
        h = self.conv(self.embedding(x).transpose(1, 2))
        return self.fc(F.relu(h).amax(-1))


class Learner:
    def __init__(self, model, train_data):
        self.model = model
        self.train_data = train_data
        self.optim = torch.optim.Adam(model.parameters(), lr=1e-3)

    def on_epoch_start(self):
        self.model.train()

    def step(self, text, label):
        self.model.zero_grad()
        loss = F.cross_entropy(self.model(text), label)
        loss.backward()
        self.optim.step()
        return loss.item()

    def run(self, epochs):
        for _ in range(epochs):
            self.on_epoch_start()
            losses = [self.step(text, label) for text, label in self.train_data]
        return sum(losses) / len(losses)


torch.manual_seed(4)
batches = [(torch.randint(0, 30, (5, 9)), torch.randint(0, 2, (5,))) for _ in range(5)]
print(Learner(TextCNN(), batches).run(3))
