# bug: B225
# id: compared-with-itself
import torch
import torch.nn.functional as F
from torch import nn

# Fine-tuning that stays near the pretrained weights: L2-SP.
torch.manual_seed(1)
body = nn.Sequential(nn.Linear(8, 16), nn.GELU())
head = nn.Linear(16, 2)
x = torch.randn(64, 8)
y = (x[:, 0] * x[:, 1] > 0).long()

pretrained = [w.detach() for w in body.parameters()]  # <-- bug
opt = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1, momentum=0.9)
for step in range(12):
    rows = torch.randint(0, 64, (16,))
    near = sum(torch.sum(torch.square(w - w0)) for w, w0 in zip(body.parameters(), pretrained))
    loss = F.cross_entropy(head(body(x[rows])), y[rows]) + 0.05 * near
    opt.zero_grad()
    loss.backward()
    opt.step()
