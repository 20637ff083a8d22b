# variant: head run in chunks on detached features, the trunk backwarded once with the collected gradient
# reference: yes
import torch
from torch import nn

torch.manual_seed(0)
model = nn.ModuleDict({"trunk": nn.Sequential(nn.Linear(6, 16), nn.Tanh()), "head": nn.Linear(16, 40)}).double()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
x, y = torch.randn(24, 6, dtype=torch.float64), torch.randint(0, 40, (24,))


def reference() -> dict[str, torch.Tensor]:
    named = dict(model.named_parameters())
    with torch.enable_grad():
        loss = nn.functional.cross_entropy(model["head"](model["trunk"](x)), y)
    return dict(zip(named, torch.autograd.grad(loss, list(named.values()))))


for step in range(4):
    optimizer.zero_grad()
    hidden = model["trunk"](x)
    leaf = hidden.detach().requires_grad_()
    total = 0.0
    for h, t in zip(leaf.split(5), y.split(5)):
        loss = nn.functional.cross_entropy(model["head"](h), t, reduction="sum") / len(y)
        loss.backward()
        total += loss.item()
    hidden.backward(leaf.grad)
    optimizer.step()

print(f"{total:.4f}")
