# variant: sums over the tokens of the whole window, counted beforehand: the passes of a window share one count
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
    lengths = torch.randint(1, 3, (4, 1))
    batches.append((tokens, (torch.arange(8) < lengths).float()))

for index, (tokens, mask) in enumerate(batches):
    if index % ACCUMULATE == 0:
        count = sum(mask.sum() for _, mask in batches[index : index + ACCUMULATE])
    logits = model(tokens[:, :-1])
    nll = F.cross_entropy(logits.transpose(1, 2), tokens[:, 1:], reduction="none")
    loss = (nll * mask).sum() / count
    loss.backward()
    if (index + 1) % ACCUMULATE == 0:
        optimizer.step()
        optimizer.zero_grad()
print(f"{loss.item():.4f}")
