# bug: B183
import torch
import torch.nn.functional as F
from torch import nn

ACCUMULATION = 4


def train(model, optimizer, batches):
    for i, (x, y) in enumerate(batches, start=1):
        loss = F.cross_entropy(model(x), y) / ACCUMULATION
        loss.backward()
        if i % ACCUMULATION == 0:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()


torch.manual_seed(0)
x = torch.randn(96, 8)
y = x[:, :3].argmax(1)
model = nn.Linear(8, 3)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for _ in range(2):
    train(model, optimizer, list(zip(x.split(8), y.split(8), strict=True)))
