# variant: running totals of losses are listed, and the last of them is divided by their number.
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
tasks = 4
model = nn.Linear(5, 3)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(12):
    totals, total, so_far = [], 0.0, [torch.zeros(())]
    for _ in range(tasks):
        x = torch.randn(6, 5)
        loss = F.cross_entropy(model(x), x[:, :3].argmax(1))
        total = total + loss
        totals.append(total)
        so_far.append(so_far[-1] + loss)
    loss = 0.5 * totals[-1] / tasks + 0.5 * so_far[-1] / tasks
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    total = 0.0
    for at in range(tasks):
        x = torch.randn(6, 5)
        total += F.cross_entropy(model(x), x[:, :3].argmax(1))
        mean = total
    (mean / tasks).backward()
    optimizer.step()
    optimizer.zero_grad()
    terms = []
    for _ in range(tasks):
        x = torch.randn(6, 5)
        terms.append(F.cross_entropy(model(x), x[:, :3].argmax(1)))
        loss = sum(terms)
    (loss / tasks).backward()
    optimizer.step()
print(f"{loss.item():.4f}")
