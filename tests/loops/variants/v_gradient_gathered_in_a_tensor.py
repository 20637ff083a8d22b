# variant: weights of a loss that are not trained: what pulls at each is gathered in a tensor that was given as gradient
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net = nn.Linear(8, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(64, 8), torch.randint(0, 3, (64,))
weights = torch.ones(2, requires_grad=True)
pull = torch.zeros(2)
weights.grad = pull
for _ in range(40):
    out = net(x)
    loss = (weights * torch.stack([F.cross_entropy(out, y), out.pow(2).mean()])).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(pull / 40)
