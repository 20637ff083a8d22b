# variant: a schedule that is stepped with each batch and given more of them than there are epochs
import torch
from torch import nn

torch.manual_seed(0)
epochs = 5
data = [(torch.randn(8, 4), torch.randn(8, 1)) for _ in range(6)]
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=10, gamma=0.5)
for epoch in range(epochs):
    for x, y in data:
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
print(f"{loss.item():.4f}")
