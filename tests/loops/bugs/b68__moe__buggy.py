# bug: B68
# id: auxiliary-loss-not-divided
import torch
import torch.nn.functional as F
from torch import nn


class MoE(nn.Module):
    def __init__(self, dim, n_experts):
        super().__init__()
        self.gate = nn.Linear(dim, n_experts)
        self.experts = nn.ModuleList(nn.Linear(dim, dim) for _ in range(n_experts))

    def forward(self, x):
        probs = self.gate(x).softmax(-1)
        out = sum(probs[:, i : i + 1] * expert(x) for i, expert in enumerate(self.experts))
        load = F.one_hot(probs.argmax(-1), len(self.experts)).float().mean(0)
        balance = len(self.experts) * (load * probs.mean(0)).sum()
        return out, balance


torch.manual_seed(0)
model = nn.ModuleDict({"moe": MoE(6, 4), "head": nn.Linear(6, 3)})
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
k = 4
batches = [(torch.randn(12, 6), torch.randint(0, 3, (12,))) for _ in range(40)]

for i, (x, y) in enumerate(batches):
    hidden, aux = model["moe"](x)
    main = F.cross_entropy(model["head"](hidden), y)
    (main / k + 0.1 * aux).backward()  # <-- bug
    if (i + 1) % k == 0:
        optimizer.step()
        optimizer.zero_grad()
print(f"{main.item():.4f} {aux.item():.4f}")
