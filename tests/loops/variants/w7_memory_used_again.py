# variant: where the weights of one layer lay, the next layer's perturbation is computed: it is no average of the first
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 6), nn.Tanh(), nn.Linear(6, 6))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for _ in range(12):
    for _ in range(2):
        x = torch.randn(16, 6)
        (nn.functional.mse_loss(model(x), x.flip(1)) / 2).backward()
    first, second = model[0].weight, model[2].weight
    with torch.no_grad():
        kept, scratch = second.clone(), first.data
        first.data = first.data.clone()
        torch.mul(second.grad, 0.05 / second.grad.norm(), out=scratch)
        second.add_(scratch)
        sharpness = nn.functional.mse_loss(model(x), x.flip(1))
        second.copy_(kept)
    optimizer.step()
    optimizer.zero_grad()
