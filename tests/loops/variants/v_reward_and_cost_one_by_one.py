# variant: a reward and a cost pull at one output from two sides, in passes of their own; two optimizers share the model
import torch
from torch import nn

torch.manual_seed(2)
body, head = nn.Sequential(nn.Linear(5, 16), nn.Tanh()), nn.Sequential(nn.Linear(16, 1), nn.Softplus())
opt_body = torch.optim.Adam(body.parameters(), lr=1e-3)
opt_head = torch.optim.SGD(head.parameters(), lr=1e-2)

for step in range(20):
    force = head(body(torch.randn(32, 5)))
    opt_body.zero_grad()
    opt_head.zero_grad()
    (-force.mean()).backward(retain_graph=True)
    (0.3 * (force**2).mean()).backward()
    opt_body.step()
    opt_head.step()
