# variant: Lookahead, evaluated each time after the fast weights were set to the slow ones
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
slow = {n: p.detach().clone() for n, p in model.named_parameters()}
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
xv = torch.randn(32, 6)
for step in range(1, 41):
    x = torch.randn(16, 6)
    loss = (model(x) - x[:, :1]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 5 == 0:
        with torch.no_grad():
            for n, p in model.named_parameters():
                slow[n] += 0.2 * (p - slow[n])
                p.copy_(slow[n])
            model.eval()
            print(f"{step}: {(model(xv) - xv[:, :1]).pow(2).mean().item():.4f}")
            model.train()
