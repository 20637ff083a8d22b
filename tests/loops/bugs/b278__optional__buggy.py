# bug: B278
# id: state-not-restored
import os
import tempfile

import torch
import torch.nn.functional as F
from torch import nn


def save(path, model, optimizer, iteration):
    state = {"weights": model.state_dict(), "moments": optimizer.state_dict(), "iteration": iteration}
    torch.save(state, path)


def load(path, model, optimizer=None):
    state = torch.load(path)
    model.load_state_dict(state["weights"])
    if optimizer is not None:
        optimizer.load_state_dict(state["moments"])
    return state["iteration"]


def main(path, iterations, seed=0):
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(4, 12), nn.Tanh(), nn.Linear(12, 1))
    start = 0
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    if os.path.exists(path):
        start = load(path, model)  # <-- bug
    for iteration in range(start, iterations):
        x = torch.randn(10, 4)
        loss = F.mse_loss(model(x), x.amax(1, keepdim=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    save(path, model, optimizer, iterations)
    return loss.item()


with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "last.pt")
    print(f"{main(path, 10):.4f} {main(path, 24, seed=1):.4f}")
