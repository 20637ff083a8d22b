# bug: B18
import torch
from torch import nn

torch.manual_seed(1)


def train(net, optimizer, scaler, batches, accumulate=2):
    for index, (x, y) in enumerate(batches, start=1):
        with torch.autocast("cpu", dtype=torch.float16):
            loss = nn.functional.mse_loss(net(x).float(), y) / accumulate
        scaler.scale(loss).backward()
        if index % accumulate == 0:
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad(set_to_none=True)


def main():
    net = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 2))
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    train(net, optimizer, scaler, [(x, x[:, :2].abs()) for x in torch.randn(20, 16, 6)])


main()
