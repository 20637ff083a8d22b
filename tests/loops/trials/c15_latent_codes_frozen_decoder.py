# truth: clean
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
"""DeepSDF-like: one code per shape in a plain list, only the codes of the batch are trained; the decoder is given."""
decoder = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
codes = [torch.zeros(8).normal_(0, 0.1).requires_grad_() for _ in range(12)]
opt = torch.optim.Adam(codes, lr=1e-2)
targets = torch.randn(12, 3)
for it in range(8):
    rows = torch.randperm(10)[:4]  # the last two shapes are held out
    opt.zero_grad()
    out = decoder(torch.stack([codes[i] for i in rows]))
    F.mse_loss(out, targets[rows]).backward()
    opt.step()
print(out.mean().item())
