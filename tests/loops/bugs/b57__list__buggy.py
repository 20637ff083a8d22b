# bug: B57
# id: hook-registered-every-iteration
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
backbone = nn.Linear(10, 16)
head = nn.Linear(16, 2)
model = nn.Sequential(backbone, nn.Tanh(), head)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
batches = [(torch.randn(8, 10), torch.randn(8, 2)) for _ in range(8)]

for x, y in batches:
    optimizer.zero_grad()
    # the pretrained part learns at half speed
    backbone.weight.register_hook(lambda g: g * 0.5)  # <-- bug
    loss = F.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
print(loss.item())
