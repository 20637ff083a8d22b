# variant: universal perturbation: the attack's parameters and the model's, each cleared before the backward that counts
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
delta = torch.zeros(1, 6, requires_grad=True)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
ce = nn.CrossEntropyLoss()
for it in range(8):
    x, y = torch.randn(16, 6), torch.randint(0, 3, (16,))
    opt.zero_grad()
    if delta.grad is not None:
        delta.grad.zero_()
    loss = ce(net(x + delta), y)
    loss.backward()
    # One backward serves both: descend on the weights, ascend on the perturbation.
    opt.step()
    delta.data = (delta.data + 0.02 * delta.grad.sign()).clamp(-0.1, 0.1)

print(f"{loss.item():.4f} {delta.abs().max().item():.3f}")
