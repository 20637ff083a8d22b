# variant: the call of a function that sets the rate was made a comment: it was taken out on purpose
import torch
import torch.nn.functional as F
from torch import nn


def adjust_learning_rate(optimizer, epoch, base=0.1):
    for group in optimizer.param_groups:
        group["lr"] = base * 0.1 ** (epoch // 2)


torch.manual_seed(0)
model = nn.Linear(6, 3)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(4):
    # adjust_learning_rate(optimizer, epoch)
    for step in range(6):
        x = torch.randn(16, 6)
        loss = F.cross_entropy(model(x), x[:, :3].argmax(dim=1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print(f"{loss:.4f}")
