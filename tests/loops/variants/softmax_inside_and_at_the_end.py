# variant: a softmax over keys, one as a soft target, one along the other side of a square, and scores for the loss
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
query, key, value, head = (nn.Linear(6, 6) for _ in range(4))
teacher = nn.Linear(6, 6)
params = [p for one in (query, key, value, head) for p in one.parameters()]
optimizer = torch.optim.SGD(params, lr=0.05)
for step in range(8):
    x = torch.randn(6, 6)
    weights = F.softmax(query(x) @ key(x).T / 6**0.5, dim=-1)
    scores = head(weights @ value(x))
    with torch.no_grad():
        soft = teacher(x).softmax(1)
    loss = F.cross_entropy(scores, soft) + F.kl_div(scores.log_softmax(1), soft, reduction="batchmean")
    assigned = F.softmax(query(x) @ key(x).T, dim=0)
    loss = loss + 0.1 * F.cross_entropy(assigned, torch.arange(6))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
