# variant: a hook registered every iteration, on that iteration's activation and not on a parameter
# window: 2
import torch
from torch import nn

torch.manual_seed(0)
encoder, decoder = nn.Linear(6, 16), nn.Linear(16, 1)
optimizer = torch.optim.SGD([*encoder.parameters(), *decoder.parameters()], lr=0.05)
seen: list[float] = []
for i in range(10):
    x = torch.randn(8, 6)
    h = torch.relu(encoder(x))
    h.register_hook(lambda g: seen.append(g.norm().item()))
    h.register_hook(lambda g: g.clamp(-0.05, 0.05))
    loss = (decoder(h) - x[:, :1]).pow(2).mean()
    (loss / 2).backward()
    if i % 2:
        optimizer.step()
        optimizer.zero_grad()

print(f"{len(seen)} {loss.item():.4f}")
