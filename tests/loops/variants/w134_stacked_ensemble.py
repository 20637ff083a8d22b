# variant: deep ensemble as stacked parameters under vmap: the optimizer holds tensors that no module owns
import copy

import torch
from torch import nn
from torch.func import functional_call, stack_module_state

torch.manual_seed(0)
models = [nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1)) for _ in range(3)]
params, buffers = stack_module_state(models)
base = copy.deepcopy(models[0]).to("meta")


def fmodel(p: dict[str, torch.Tensor], b: dict[str, torch.Tensor], x: torch.Tensor) -> torch.Tensor:
    return functional_call(base, (p, b), (x,))


optimizer = torch.optim.Adam(params.values(), lr=1e-2)
for step in range(4):
    x = torch.randn(8, 6)
    predictions = torch.vmap(fmodel, in_dims=(0, 0, None))(params, buffers, x)
    loss = (predictions - x[:, :1]).pow(2).mean(dim=(1, 2)).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

print(f"{loss.item():.4f}")
