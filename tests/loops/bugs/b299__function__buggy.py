# bug: B299
# id: summed-loss-keeps-graphs
# severity: info
import torch
from torch import nn

torch.manual_seed(3)
encoder, head = nn.Sequential(nn.Linear(5, 16), nn.Tanh()), nn.Linear(16, 2)
optimizer = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=0.1)


def micro_loss(x, y):
    return nn.functional.cross_entropy(head(encoder(x)), y)


def train_step(micro_batches):
    optimizer.zero_grad()
    loss = torch.zeros(())
    for x, y in micro_batches:
        loss += micro_loss(x, y) / len(micro_batches)
    loss.backward()  # <-- bug
    optimizer.step()


for _ in range(12):
    train_step([(torch.randn(8, 5), torch.randint(2, (8,))) for _ in range(4)])
