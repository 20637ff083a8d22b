# variant: the auxiliary loss is divided too: its weight was divided by k once, before the loop
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
gate, experts = nn.Linear(6, 3), nn.ModuleList(nn.Linear(6, 2) for _ in range(3))
optimizer = torch.optim.SGD([*gate.parameters(), *experts.parameters()], lr=0.1)
k = 4
aux_weight = 0.1 / k
for i in range(40):
    x, y = torch.randn(10, 6), torch.randint(0, 2, (10,))
    probs = gate(x).softmax(-1)
    logits = sum(probs[:, j : j + 1] * expert(x) for j, expert in enumerate(experts))
    load = F.one_hot(probs.argmax(-1), 3).float().mean(0)
    balance = 3 * (load * probs.mean(0)).sum()
    loss = F.cross_entropy(logits, y) / k + aux_weight * balance
    loss.backward()
    if (i + 1) % k == 0:
        optimizer.step()
        optimizer.zero_grad()

print(f"{loss.item():.4f}")
