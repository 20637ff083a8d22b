# variant: a hook before step() takes away gradients that are not finite, so that the step has nothing to do
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
emptied = 0


def drop_non_finite(optimizer, args, kwargs):
    global emptied
    params = [p for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
    if not all(p.grad.isfinite().all() for p in params):
        emptied += 1
        for p in params:
            p.grad = None


optimizer.register_step_pre_hook(drop_non_finite)
for step in range(12):
    x = torch.randn(8, 6)
    if step in (1, 8):
        x[2, 2] = float("nan")
    loss = (model(x) - x.mean(1, keepdim=True)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

print(f"emptied {emptied} times, {all(p.isfinite().all() for p in model.parameters())}")
