# bug: B90
# id: summand-without-graph
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for step in range(24):
    known, labels, unknown = torch.randn(8, 10), torch.randint(0, 4, (8,)), torch.randn(16, 10)
    strong = unknown + 0.2 * torch.randn_like(unknown)
    logits, weak_logits, strong_logits = model(torch.cat([known, unknown, strong])).split([8, 16, 16])
    wanted = weak_logits.detach().softmax(-1)
    consistency = torch.mean(
        -(wanted * strong_logits.detach().log_softmax(-1)).sum(-1)  # <-- bug
    )
    weight = 2.0 * min(1.0, (step + 1) / 10)
    loss = F.cross_entropy(logits, labels) + weight * consistency
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
