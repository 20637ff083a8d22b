# variant: windows closed by a token budget: summed loss over the tokens counted ahead
# reference: yes
import torch
from torch import nn
from torch.nn.functional import cross_entropy

torch.manual_seed(0)
model = nn.Sequential(nn.Embedding(17, 8), nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 17)).double()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
sentences = [torch.randint(0, 17, (int(n),)) for n in torch.randint(4, 30, (30,))]
token_budget = 60
window: list[torch.Tensor] = []


def reference() -> dict[str, torch.Tensor]:
    named = dict(model.named_parameters())
    inputs, targets = torch.cat([s[:-1] for s in window]), torch.cat([s[1:] for s in window])
    with torch.enable_grad():
        loss = cross_entropy(model(inputs), targets)
    return dict(zip(named, torch.autograd.grad(loss, list(named.values()))))


def update() -> None:
    tokens = sum(len(s) - 1 for s in window)
    optimizer.zero_grad()
    for s in window:
        loss = cross_entropy(model(s[:-1]), s[1:], reduction="sum") / tokens
        loss.backward()
    optimizer.step()


sizes = []
for sentence in sentences:
    window.append(sentence)
    if sum(len(s) - 1 for s in window) >= token_budget:
        update()
        sizes.append(len(window))
        window.clear()
if window:
    update()
    sizes.append(len(window))

print(f"micro-batches per step {sizes}")
