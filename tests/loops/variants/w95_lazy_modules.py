# variant: lazy modules made concrete by a dry run before the optimizer is built
# window: 2
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.LazyConv1d(4, 3), nn.ReLU(), nn.Flatten(), nn.LazyLinear(8), nn.ReLU(), nn.LazyLinear(1))
model(torch.zeros(1, 2, 7))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for step in range(4):
    for _ in range(2):
        x = torch.randn(4, 2, 7)
        loss = (model(x) - x.mean((1, 2))[:, None]).pow(2).mean() / 2
        loss.backward()
    optimizer.step()
    optimizer.zero_grad()

print(f"{loss.item():.4f}")
