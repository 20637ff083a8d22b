# variant: a number that was the first rate goes on as something else, or the next optimizer is made with it
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(48, 4)
y = x.sum(1, keepdim=True)
model = nn.Linear(4, 1)
lr = 0.05
optimizer = torch.optim.SGD(model.parameters(), lr=lr)
for epoch in range(4):
    for rows in torch.randperm(48).split(12):
        loss = nn.functional.mse_loss(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    lr *= 0.5
    with torch.no_grad():  # noise that anneals
        model.weight.add_(lr * 0.01 * torch.randn_like(model.weight))

for stage in range(3):
    rate = 0.1
    solver = torch.optim.SGD(model.parameters(), lr=rate)
    loss = nn.functional.mse_loss(model(x), y)
    solver.zero_grad()
    loss.backward()
    solver.step()
    rate *= 0.5
print(f"{loss.item():.4f}")
