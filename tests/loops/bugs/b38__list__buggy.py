# bug: B38
# id: low-precision-accumulation
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 2))
model.to(torch.bfloat16)  # <-- bug
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
k = 32

for step in range(6):
    for _ in range(k):
        x, y = torch.randn(4, 10), torch.randn(4, 2)
        loss = F.mse_loss(model(x.bfloat16()), y.bfloat16()) / k
        loss.backward()  # <-- bug
    optimizer.step()
    optimizer.zero_grad()
print(loss.item())
