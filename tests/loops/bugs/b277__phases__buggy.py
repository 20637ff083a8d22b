# bug: B277
# id: thawed-by-attribute
import torch
import torch.nn.functional as F
from torch import nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(5, 12, batch_first=True)
        self.linear = nn.Linear(12, 3)

    def forward(self, x):
        return self.linear(self.rnn(x)[0])


torch.manual_seed(12)
net = Tagger()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(4):
    if epoch < 1:
        net.linear.requires_grad_(False)
    else:
        net.linear.requires_grad = True  # <-- bug
    for _ in range(6):
        x = torch.randn(8, 7, 5)
        loss = F.cross_entropy(net(x).flatten(0, 1), x[..., :3].argmax(-1).flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
