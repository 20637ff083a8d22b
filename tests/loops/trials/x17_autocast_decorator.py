# truth: stepped-inside-autocast
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)


@torch.autocast("cpu", dtype=torch.bfloat16)
def train_epoch(n):
    for _ in range(n):
        x = torch.randn(32, 6)
        loss = F.mse_loss(net(x).float(), x.sum(1, keepdim=True))
        opt.zero_grad()
        loss.backward()
        opt.step()  # <-- bug


for epoch in range(3):
    train_epoch(4)
