# variant: reentrant checkpointing done right: the input of the block requires grad
# window: 2
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
model = nn.Sequential(nn.Embedding(9, 8), nn.Sequential(nn.Linear(8, 8), nn.Tanh()), nn.Linear(8, 9))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for step in range(4):
    optimizer.zero_grad()
    for _ in range(2):
        ids = torch.randint(0, 9, (4, 6))
        h = model[0](ids)
        h = checkpoint(model[1], h, use_reentrant=True)
        loss = nn.functional.cross_entropy(model[2](h).flatten(0, 1), ids.flatten()) / 2
        loss.backward()
    optimizer.step()

print(f"{loss.item():.4f}")
