# variant: step() stands outside every if, behind a continue; zero_grad() at the start of each window
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

ACCUM = 4


def train(model, loader, epochs):
    opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for epoch in range(epochs):
        for i, (x, y) in enumerate(loader):
            if i % ACCUM == 0:
                opt.zero_grad()
            loss = nn.functional.mse_loss(model(x), y) / ACCUM
            loss.backward()
            if (i + 1) % ACCUM != 0:
                continue
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            opt.step()
    return loss.item() * ACCUM


torch.manual_seed(3)
x = torch.randn(80, 5)
net = nn.Sequential(nn.Linear(5, 12), nn.GELU(), nn.Linear(12, 1))
print(f"{train(net, DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=5), epochs=2):.4f}")
