# bug: B45
# id: input-gradient-pollutes-parameters
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
epsilon = 0.1
batches = [(torch.randn(8, 10), torch.randint(0, 3, (8,))) for _ in range(8)]

for x, y in batches:
    optimizer.zero_grad()  # <-- bug
    x.requires_grad_(True)
    attack_loss = F.cross_entropy(model(x), y)
    attack_loss.backward()  # <-- bug
    x_adv = (x + epsilon * x.grad.sign()).detach()
    loss = F.cross_entropy(model(x_adv), y)
    loss.backward()
    optimizer.step()
print(loss.item())
