# variant: A penalty is summed over all parameters, those of a body too that nobody steps.
import torch
from torch import nn

torch.manual_seed(9)
body, head = nn.Sequential(nn.Linear(5, 8), nn.Tanh()), nn.Linear(8, 1)
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
model = nn.Sequential(body, head)
for _ in range(12):
    x = torch.randn(16, 5)
    loss = nn.functional.mse_loss(model(x), x.sum(1, keepdim=True))
    for parameter in model.parameters():
        loss = loss + 1e-3 * parameter.square().sum()
    model.zero_grad()
    loss.backward()
    optimizer.step()
