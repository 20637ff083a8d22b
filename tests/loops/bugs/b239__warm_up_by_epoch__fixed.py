# bug: B239
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

WARMUP_STEPS = 10


def rate(step):
    """Attention is all you need: up in the warm-up, then down with the root."""
    step = max(step, 1)
    return min(step**-0.5, step * WARMUP_STEPS**-1.5)


torch.manual_seed(1)
tokens = torch.randint(0, 20, (64, 6))
loader = DataLoader(TensorDataset(tokens[:, :-1], tokens[:, 1:]), batch_size=8)
model = nn.Sequential(nn.Embedding(20, 16), nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 20))
optimizer = torch.optim.Adam(model.parameters(), lr=0.05, betas=(0.9, 0.98))
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
for epoch in range(4):
    for source, target in loader:
        loss = nn.functional.cross_entropy(model(source).transpose(1, 2), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
    print(f"{epoch}: {loss.item():.3f} {optimizer.param_groups[0]['lr']:.4f}")
