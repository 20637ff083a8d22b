# variant: the sum of both losses goes backward with gradient 1 / k: no loss is divided anywhere
import torch
from torch import nn

torch.manual_seed(0)
gate, experts = nn.Linear(6, 4), nn.ModuleList(nn.Linear(6, 6) for _ in range(4))
optimizer = torch.optim.AdamW([*gate.parameters(), *experts.parameters()], lr=1e-2)
k = 4
share = torch.tensor(1.0 / k)
for i in range(40):
    x = torch.randn(12, 6)
    probs = gate(x).softmax(-1)
    out = sum(probs[:, j : j + 1] * expert(x) for j, expert in enumerate(experts))
    z_loss = gate(x).logsumexp(-1).pow(2).mean()
    (nn.functional.mse_loss(out, x.flip(1)) + 0.001 * z_loss).backward(gradient=share)
    if (i + 1) % k == 0:
        optimizer.step()
        optimizer.zero_grad()

print(f"{z_loss.item():.4f}")
