# variant: the gradient divided by the tokens of its window, counted in a dict that begins anew with each window
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Embedding(9, 10), nn.Linear(10, 9))
optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
stats = {"tokens": 0, "seen": 0}


def micro_batches(n):
    for _ in range(n):
        ids = torch.randint(9, (4, 8))
        yield ids[:, :-1], ids[:, 1:].masked_fill(torch.rand(4, 7) < 0.3, -1)


def finish(stats):
    grads = [p.grad for p in model.parameters()]
    torch._foreach_mul_(grads, 1.0 / stats["tokens"])
    optimizer.step()
    optimizer.zero_grad()
    stats["seen"] += stats["tokens"]
    stats["tokens"] = 0


for step, (ids, targets) in enumerate(micro_batches(20)):
    loss = F.cross_entropy(model(ids).transpose(1, 2), targets, ignore_index=-1, reduction="sum")
    loss.backward()
    stats["tokens"] += int((targets >= 0).sum())
    if step % 2 == 1:
        finish(stats)

print(stats)
