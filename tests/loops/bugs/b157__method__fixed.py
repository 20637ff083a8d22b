# bug: B157
import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.head = nn.LSTM(4, 16, batch_first=True), nn.Linear(16, 3)

    def forward(self, x):
        return self.head(self.rnn(x)[0])


torch.manual_seed(0)
model = Tagger()
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()

for step in range(15):
    x = torch.randn(8, 12, 4)
    wanted = x.cumsum(1)[..., :3].argmax(-1)
    optimizer.zero_grad()
    loss = criterion(model(x).flatten(0, 1), wanted.flatten())
    loss.backward()
    for p in model.parameters():
        p.grad.clamp_(-1, 1)
    optimizer.step()
    print(step, loss.item())
