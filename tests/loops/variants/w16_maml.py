# variant: MAML: inner steps by autograd.grad with create_graph, one meta backward per task
# window: 4
# reference: yes
import math

import torch
from torch import nn
from torch.func import functional_call

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1)).double()
meta_optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
inner_lr, inner_steps, tasks_per_step = 0.05, 2, 4
tasks: list[tuple[torch.Tensor, ...]] = []


def sample_task() -> tuple[torch.Tensor, ...]:
    phase, amplitude = torch.rand(()).double() * math.pi, 0.1 + torch.rand(()).double() * 4.9
    xs, xq = torch.rand(5, 1).double() * 10 - 5, torch.rand(5, 1).double() * 10 - 5
    return xs, amplitude * torch.sin(xs + phase), xq, amplitude * torch.sin(xq + phase)


def query_loss(xs: torch.Tensor, ys: torch.Tensor, xq: torch.Tensor, yq: torch.Tensor) -> torch.Tensor:
    fast = dict(model.named_parameters())
    for _ in range(inner_steps):
        loss = nn.functional.mse_loss(functional_call(model, fast, (xs,)), ys)
        grads = torch.autograd.grad(loss, list(fast.values()), create_graph=True)
        fast = {name: w - inner_lr * g for (name, w), g in zip(fast.items(), grads)}
    return nn.functional.mse_loss(functional_call(model, fast, (xq,)), yq)


def reference() -> dict[str, torch.Tensor]:
    with torch.enable_grad():
        meta_loss = torch.stack([query_loss(*task) for task in tasks]).mean()
    named = dict(model.named_parameters())
    return dict(zip(named, torch.autograd.grad(meta_loss, list(named.values()))))


for meta_step in range(3):
    tasks = [sample_task() for _ in range(tasks_per_step)]
    meta_optimizer.zero_grad()
    total = 0.0
    for task in tasks:
        loss = query_loss(*task) / tasks_per_step
        loss.backward()
        total += loss.item()
    meta_optimizer.step()

print(f"{total:.4f}")
