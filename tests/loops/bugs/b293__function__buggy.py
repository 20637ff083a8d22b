# bug: B293
# id: saved-inside-window
import io

import torch
from torch import nn

K, SAVE_EVERY = 4, 6


def save_checkpoint(file, model, optimizer, step):
    file.seek(0)
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, file)


def train(model, optimizer, file, steps=48):
    optimizer.zero_grad()
    for step in range(steps):
        x = torch.randn(8, 5)
        loss = nn.functional.mse_loss(model(x), x.sum(1, keepdim=True)) / K
        loss.backward()
        if (step + 1) % K == 0:
            optimizer.step()
            optimizer.zero_grad()
        if (step + 1) % SAVE_EVERY == 0:
            save_checkpoint(file, model, optimizer, step)  # <-- bug


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
train(model, torch.optim.AdamW(model.parameters(), lr=1e-2), io.BytesIO())
