# variant: two layers of zeros get gradients of zeros for most of the run, as their loss counts from step 33 on
import torch
from torch import nn

torch.manual_seed(0)
trunk, main, late = nn.Linear(5, 8), nn.Linear(8, 1), nn.Sequential(nn.Linear(8, 8), nn.Sigmoid(), nn.Linear(8, 8))
for parameter in late.parameters():
    nn.init.zeros_(parameter)
optimizer = torch.optim.Adam([*trunk.parameters(), *main.parameters(), *late.parameters()], lr=0.01)
for step in range(40):
    x = torch.randn(8, 5)
    hidden = torch.tanh(trunk(x))
    loss = (main(hidden) - x.sum(dim=1, keepdim=True)).pow(2).mean()
    loss = loss + float(step > 32) * (late(hidden) - hidden.detach()).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
