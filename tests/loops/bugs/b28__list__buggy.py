# bug: B28
# id: zeros-move-unused-parameters
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
trunk = nn.Linear(10, 8)
heads = nn.ModuleList([nn.Linear(8, 2) for _ in range(3)])
model = nn.ModuleList([trunk, heads])
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

for i in range(12):
    task = i % 3
    x, y = torch.randn(8, 10), torch.randn(8, 2)
    optimizer.zero_grad(set_to_none=False)  # <-- bug
    loss = F.mse_loss(heads[task](torch.relu(trunk(x))), y)
    loss.backward()
    optimizer.step()  # <-- bug
print(loss.item())
