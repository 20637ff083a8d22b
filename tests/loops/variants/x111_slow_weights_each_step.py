# variant: slow weights take 0.9 of each step, and the weights are set to them: the step is damped
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
slow = [p.detach().clone() for p in model.parameters()]
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
damping = 0.9
for step in range(30):
    x = torch.randn(16, 6)
    loss = (model(x) - x[:, :1]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for q, p in zip(slow, model.parameters()):
            q += damping * (p - q)
            p.copy_(q)
print(f"{loss.item():.4f}")
