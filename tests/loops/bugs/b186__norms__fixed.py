# bug: B186
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.5)
criterion = nn.TripletMarginLoss(margin=0.2)
shown = []
for _ in range(10):
    anchor = torch.randn(16, 8)
    positive, negative = anchor + 0.1 * torch.randn(16, 8), torch.randn(16, 8)
    a, p, n = net(anchor), net(positive), net(negative)
    near = criterion(a, p, n)
    norms = a.norm(2) + p.norm(2) + n.norm(2)
    loss = near + 0.001 * norms
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    shown.append((near.item(), norms.item() / 3))
print(shown[-1])
