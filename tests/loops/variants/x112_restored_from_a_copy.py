# variant: averaged weights are loaded to be evaluated, then the raw ones are evaluated too, from a copy of the state
import copy

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
average = copy.deepcopy(model.state_dict())
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
xv = torch.randn(32, 6)


@torch.inference_mode()
def error(state):
    model.load_state_dict(state)
    return (model.eval()(xv) - xv[:, :1]).pow(2).mean().item()


for step in range(1, 31):
    x = torch.randn(16, 6)
    loss = (model.train()(x) - x[:, :1]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    for name, value in model.state_dict().items():
        average[name] = 0.9 * average[name] + 0.1 * value
    if step % 5 == 0:
        raw = copy.deepcopy(model.state_dict())
        print(f"{step}: {error(average):.4f} {error(raw):.4f}")
