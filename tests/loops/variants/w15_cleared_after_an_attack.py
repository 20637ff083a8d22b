# variant: an attack's passes fill the weights' gradients, and the optimizer clears before and after them
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(16):
    x = torch.randn(16, 6)
    y = x[:, :3].argmax(dim=1)
    optimizer.zero_grad()
    attacked = x.clone().requires_grad_()
    F.cross_entropy(model(attacked), y).backward()
    x = x + 0.1 * attacked.grad.sign()
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
print(f"{loss:.4f}")
