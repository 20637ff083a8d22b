# truth: stepped-scaled-gradients
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
"""Scaler with three optimizers in a dict; one of them is forgotten in the list of scaled steps."""
nets = nn.ModuleDict({n: nn.Linear(4, 4) for n in ("a", "b", "c")})
opts = {n: torch.optim.SGD(m.parameters(), lr=1e-5) for n, m in nets.items()}
scaler = torch.amp.GradScaler("cpu", init_scale=128.0)
scaled = {"a", "b"}
for it in range(8):
    x = torch.randn(8, 4)
    h = nets["c"](torch.tanh(nets["b"](torch.tanh(nets["a"](x)))))
    nets.zero_grad()
    scaler.scale(F.mse_loss(h, x)).backward()
    for n, o in opts.items():
        if n in scaled:
            scaler.step(o)
        else:
            o.step()  # <-- bug
    scaler.update()
