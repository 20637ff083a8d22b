# variant: one optimizer per layer in a list, rates falling with depth, cleared and stepped together
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 3))
layers = [m for m in model if isinstance(m, nn.Linear)]
optimizers = [torch.optim.AdamW(layer.parameters(), lr=1e-2 * 0.5**d) for d, layer in enumerate(reversed(layers))]
for step in range(10):
    x, y = torch.randn(8, 6), torch.randint(0, 3, (8,))
    for optimizer in optimizers:
        optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    for optimizer in optimizers:
        optimizer.step()

print(f"{loss.item():.4f}")
