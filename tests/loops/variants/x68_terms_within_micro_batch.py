# variant: inside each micro-batch the main loss is a mean over two heads, plus a penalty; the total is divided by k
import torch
from torch import nn


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(6, 12)
        self.heads = nn.ModuleList(nn.Linear(12, 1) for _ in range(2))

    def forward(self, x):
        h = torch.tanh(self.body(x))
        return [head(h) for head in self.heads], h


torch.manual_seed(0)
model = TwoHeads()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
k = 2
for i in range(24):
    x = torch.randn(8, 6)
    outputs, h = model(x)
    main = sum(nn.functional.mse_loss(out, x[:, j : j + 1]) for j, out in enumerate(outputs)) / 2
    aux = 0.05 * h.abs().mean()
    loss = main + aux
    (loss / k).backward()
    if (i + 1) % k == 0:
        optimizer.step()
        optimizer.zero_grad()

print(f"{loss.item():.4f}")
