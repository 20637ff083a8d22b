# bug: B215
# id: loss-as-gradient
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Embedding(20, 16), nn.Flatten(), nn.Linear(64, 20))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
accumulate_every = 4
for _ in range(12):
    for _ in range(accumulate_every):
        words = torch.randint(0, 20, (8, 5))
        loss = F.cross_entropy(model(words[:, :-1]), words[:, -1])
        loss.backward(loss / accumulate_every)  # <-- bug
    nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
    optimizer.zero_grad()
