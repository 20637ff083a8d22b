# variant: four forwards, their losses divided by four and summed, one backward after the inner loop
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(7, 14), nn.Tanh(), nn.Linear(14, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
accumulate = 4
for update in range(10):
    optimizer.zero_grad()
    loss = 0.0
    for _ in range(accumulate):
        x = torch.randn(4, 7)
        loss += nn.functional.mse_loss(model(x), x[:, :1]) / accumulate
    loss.backward()
    optimizer.step()

print(f"{loss.item():.4f}")
