# bug: B02
# id: zeroed-before-step
import torch
from torch import nn

torch.manual_seed(0)

x_train = torch.randn(40, 5)
y_train = x_train.sum(1, keepdim=True)
model = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 1))
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

for epoch in range(8):
    y_pred = model(x_train)
    loss = criterion(y_pred, y_train)
    loss.backward()
    optimizer.zero_grad()  # <-- bug
    optimizer.step()

print("final loss", loss.item())
