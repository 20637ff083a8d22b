# bug: B147
"""Shadow weights in a dict, with the decay that TensorFlow's num_updates gives."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(4)
x = torch.randn(160, 7)
loader = DataLoader(TensorDataset(x, (x[:, 0] * x[:, 1] > 0).float()), batch_size=8, shuffle=True)
net = nn.Sequential(nn.Linear(7, 30), nn.ReLU(), nn.Linear(30, 1), nn.Flatten(0))
shadow = {name: p.detach().clone() for name, p in net.named_parameters()}
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
step = 0
for epoch in range(3):
    for xb, yb in loader:
        opt.zero_grad()
        F.binary_cross_entropy_with_logits(net(xb), yb).backward()
        opt.step()
        step += 1
        keep = min(0.9999, step / (step + 4.0))
        with torch.no_grad():
            for name, p in net.named_parameters():
                shadow[name] = keep * shadow[name] + (1 - keep) * p
    with torch.no_grad():
        said = torch.func.functional_call(net, shadow, (x,))
        print(epoch, ((said > 0) == (x[:, 0] * x[:, 1] > 0)).float().mean().item())
