# variant: the temperature is frozen, stands in the optimizer with the rest, and its number is used
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(6, 4)
        self.log_temperature = nn.Parameter(torch.tensor(-1.0), requires_grad=False)


head = Head()
optimizer = torch.optim.Adam(head.parameters(), lr=1e-2)
for _ in range(8):
    scores = head.layer(torch.randn(8, 6)) / head.log_temperature.exp().item()
    optimizer.zero_grad()
    F.cross_entropy(scores, torch.randint(4, (8,))).backward()
    optimizer.step()
    print(head.log_temperature.item())
