# variant: saliency by backward() between epochs, the loop clears at the start of every iteration
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
x, y = torch.randn(24, 6), torch.randint(0, 3, (24,))
for epoch in range(3):
    for inputs, targets in zip(x.split(8), y.split(8)):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(inputs), targets)
        loss.backward()
        optimizer.step()
    probe = x[:1].clone().requires_grad_()
    model(probe).max().backward()
    saliency = probe.grad.abs().sum()

print(f"{loss.item():.4f} {saliency.item():.4f}")
