# bug: B278
# id: state-not-restored
import io

import torch
import torch.nn.functional as F
from torch import nn


def train(model, optimizer, epochs):
    for _ in range(epochs):
        for _ in range(6):
            x = torch.randn(12, 5)
            loss = F.mse_loss(model(x), x.sum(1, keepdim=True))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def make():
    model = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
    return model, torch.optim.Adam(model.parameters(), lr=0.01)


torch.manual_seed(0)
model, optimizer = make()
train(model, optimizer, 2)
file = io.BytesIO()
torch.save({"model": model.state_dict(), "optimizer_state": optimizer.state_dict(), "epoch": 2}, file)

file.seek(0)
model, optimizer = make()
checkpoint = torch.load(file)
model.load_state_dict(checkpoint["model"])  # <-- bug
start = checkpoint["epoch"]
for _ in range(start, 4):
    train(model, optimizer, 1)
