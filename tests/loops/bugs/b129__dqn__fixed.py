# bug: B129
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 2))
target = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 2))
target.load_state_dict(net.state_dict())
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)

for step in range(40):
    state, reward, after = torch.randn(16, 4), torch.randn(16), torch.randn(16, 4)
    action = torch.randint(0, 2, (16, 1))
    with torch.no_grad():
        wanted = reward + 0.9 * target(after).max(1).values
    loss = F.smooth_l1_loss(net(state).gather(1, action)[:, 0], wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
