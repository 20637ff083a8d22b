# bug: B101
import torch
import torch.nn.functional as F
from torch import nn


def main(episodes=24, meta_batch_size=4):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=episodes)
    for episode in range(episodes):
        optimizer.zero_grad()
        batch_loss = torch.tensor(0.0)
        for task in range(meta_batch_size):
            x = torch.randn(8, 4)
            batch_loss += F.mse_loss(model(x), task * x[:, :1])
        batch_loss.backward()
        optimizer.step()
        scheduler.step()
    print(f"{batch_loss.item():.4f}")


main()
