# bug: B116
import torch
from torch import nn


class Captioner(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(10, 24), nn.BatchNorm1d(24), nn.ReLU())
        self.decoder = nn.Sequential(nn.Dropout(0.1), nn.Linear(24, 5))

    def forward(self, x):
        return self.decoder(self.encoder(x))


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

    def fit(self, epochs):
        for epoch in range(epochs):
            self.model.encoder.train()
            self.model.decoder.train()
            for _ in range(6):
                x = torch.randn(16, 10)
                loss = nn.functional.cross_entropy(self.model(x), x[:, :5].argmax(1))
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            self.evaluate()

    def evaluate(self):
        self.model.encoder.eval()
        self.model.decoder.eval()
        with torch.inference_mode():
            x = torch.randn(32, 10)
            accuracy = (self.model(x).argmax(1) == x[:, :5].argmax(1)).float().mean()
        print(f"{accuracy:.3f}")


torch.manual_seed(1)
Trainer(Captioner()).fit(3)
