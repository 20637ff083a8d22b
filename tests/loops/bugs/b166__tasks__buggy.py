# bug: B166
# id: micro-batches-without-backward
"""Meta-learning: the query losses of the tasks are listed, and the last of them is divided by their number."""

import torch
import torch.nn.functional as F
from torch import nn


class Meta(nn.Module):
    def __init__(self, tasks, rate):
        super().__init__()
        self.tasks, self.rate = tasks, rate
        self.net = nn.Linear(4, 3)
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=1e-2)

    def learn(self, support, query):
        losses, right = [], 0
        for task in range(self.tasks):
            x, y = support[task]
            loss = F.cross_entropy(self.net(x), y)
            grads = torch.autograd.grad(loss, tuple(self.net.parameters()))
            weight, bias = (p - self.rate * g for p, g in zip(self.net.parameters(), grads, strict=True))
            x, y = query[task]
            logits = F.linear(x, weight, bias)
            right += (logits.argmax(1) == y).sum().item()
            losses.append(F.cross_entropy(logits, y))
        meta_loss = losses[-1] / self.tasks  # <-- bug
        self.optimizer.zero_grad()
        meta_loss.backward()
        self.optimizer.step()
        return right


def draw(tasks, rows=6):
    return [(torch.randn(rows, 4), torch.randint(0, 3, (rows,))) for _ in range(tasks)]


torch.manual_seed(0)
meta = Meta(4, 0.3)
for _ in range(12):
    right = meta.learn(draw(4), draw(4))
print(right)
