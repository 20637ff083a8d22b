# truth: layer-replaced-after-optimizer
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
"""LoRA layers wrap the linear ones after the optimizer was made; the base stays in use, frozen."""


class LoRA(nn.Module):
    def __init__(self, base, r=2):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.a = nn.Parameter(torch.randn(base.in_features, r) * 0.1)
        self.b = nn.Parameter(torch.randn(r, base.out_features) * 0.1)

    def forward(self, x):
        return self.base(x) + x @ self.a @ self.b


net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.AdamW(net.parameters(), lr=1e-2)  # <-- bug
net[0] = LoRA(net[0])  # <-- bug
for it in range(8):
    x = torch.randn(8, 6)
    opt.zero_grad()
    F.mse_loss(net(x), x.sum(1, keepdim=True)).backward()
    opt.step()
