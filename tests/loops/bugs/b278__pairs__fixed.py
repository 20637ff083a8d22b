# bug: B278
"""A loop restores all that a checkpoint holds the state of."""

import os
import tempfile

import torch
from torch import nn


def train(path, epochs, resume):
    model = nn.Linear(6, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.5)
    start, count = 0, 0
    if resume:
        state = torch.load(path)
        for key, one in (("model", model), ("optimizer", optimizer), ("scheduler", scheduler)):
            one.load_state_dict(state[key])
        start, count = state["epoch"], state["step"]
    for epoch in range(start, epochs):
        for x in torch.randn(4, 8, 6):
            optimizer.zero_grad()
            nn.functional.mse_loss(model(x), x[:, :1]).backward()
            optimizer.step()
            count += 1
        scheduler.step()
        whole = {
            "model": model.state_dict(),
            "optimizer": optimizer.state_dict(),
            "scheduler": scheduler.state_dict(),
            "epoch": epoch + 1,
            "step": count,
        }
        torch.save(whole, path)


torch.manual_seed(0)
with tempfile.TemporaryDirectory() as folder:
    file = os.path.join(folder, "last.pt")
    train(file, 3, resume=False)
    train(file, 6, resume=True)
