# bug: B245
# id: schedule-moves-nothing
import torch
from torch import nn

torch.manual_seed(1111)
corpus = torch.randint(0, 12, (4, 121))
model = nn.Sequential(nn.Embedding(12, 16), nn.Linear(16, 32), nn.Tanh(), nn.Linear(32, 12))
lr = 0.5
best = None
optimizer = torch.optim.SGD(model.parameters(), lr=lr)
for epoch in range(4):
    total = 0.0
    for at in range(0, 120, 20):
        optimizer.zero_grad()
        said = model(corpus[:, at : at + 20])
        loss = nn.functional.cross_entropy(said.flatten(0, 1), corpus[:, at + 1 : at + 21].flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        optimizer.step()
        total += loss.item()
    if best is None or total < best:
        best = total
    lr /= 4.0  # <-- bug
    print(f"{epoch} {total:.3f} lr {lr}")
