# bug: B01
# id: never-zeroed
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
body = nn.Sequential(nn.Linear(6, 16), nn.ReLU())
decoder, head = nn.Linear(16, 6), nn.Linear(16, 3)

pretraining = torch.optim.Adam([*body.parameters(), *decoder.parameters()], lr=1e-2)
for _ in range(10):
    x = torch.randn(16, 6)
    pretraining.zero_grad()
    F.mse_loss(decoder(body(x)), x).backward()
    pretraining.step()

tuning = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=1e-2)
for _ in range(10):
    loss = F.cross_entropy(head(body(torch.randn(16, 6))), torch.randint(3, (16,)))
    loss.backward()  # <-- bug
    tuning.step()
    tuning.zero_grad()
