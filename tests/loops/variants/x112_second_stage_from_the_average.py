# variant: the average is evaluated in the model after the first stage, and the second one begins with it on purpose
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
xv = torch.randn(32, 6)


def stage(lr, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    average = [p.detach().clone() for p in model.parameters()]
    for _ in range(steps):
        x = torch.randn(16, 6)
        loss = (model(x) - x[:, :1]).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for a, p in zip(average, model.parameters()):
                a.lerp_(p, 0.1)
    with torch.no_grad():
        for a, p in zip(average, model.parameters()):
            p.copy_(a)
        return (model(xv) - xv[:, :1]).pow(2).mean().item()


for lr in (0.1, 0.03, 0.01):
    print(f"{lr}: {stage(lr, 15):.4f}")
