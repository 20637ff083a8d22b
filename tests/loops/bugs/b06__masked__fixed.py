# bug: B06
import torch
import torch.nn.functional as F
from torch import nn

ACCUMULATE = 4

torch.manual_seed(0)
model = nn.Sequential(nn.Embedding(11, 16), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 11))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
batches = []
for _ in range(24):
    tokens = torch.randint(0, 11, (4, 9))
    lengths = torch.randint(3, 9, (4, 1))
    batches.append((tokens, (torch.arange(8) < lengths).float()))

for index, (tokens, mask) in enumerate(batches):
    logits = model(tokens[:, :-1])
    nll = F.cross_entropy(logits.transpose(1, 2), tokens[:, 1:], reduction="none")
    loss = (nll * mask).sum() / mask.sum()
    (loss / ACCUMULATE).backward()
    if (index + 1) % ACCUMULATE == 0:
        optimizer.step()
        optimizer.zero_grad()
print(f"{loss.item():.4f}")
