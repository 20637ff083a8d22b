# bug: B213
import torch
import torch.nn.functional as F
from torch import nn


@torch.no_grad()
def targets(model, x):
    before = "train" if model.training else "eval"
    model.eval()
    wanted = torch.stack([model(x + 0.1 * torch.randn_like(x)).softmax(-1) for _ in range(3)]).mean(0)
    if before == "train":
        model.train()
    return wanted


def epoch(model, optimizer, batches):
    model.train()
    for x, y in batches:
        given = model(x)
        loss = F.cross_entropy(given, y) + F.mse_loss(given.softmax(-1), targets(model, x))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


torch.manual_seed(14)
model = nn.Sequential(nn.Linear(6, 24), nn.BatchNorm1d(24), nn.ReLU(), nn.Dropout(0.2), nn.Linear(24, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
x = torch.randn(96, 6)
batches = [(x[at : at + 12], x[at : at + 12, :3].argmax(1)) for at in range(0, 96, 12)]
print(" ".join(f"{epoch(model, optimizer, batches):.4f}" for _ in range(3)))
