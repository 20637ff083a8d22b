# variant: a sum is clipped to a limit that was multiplied by the number of passes; after two losses were clipped, one
# part alone is slowed down; and the groups beside the first are clamped by hooks, or by an optimizer's own step
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
PASSES, LIMIT = 4, 0.5
LIMIT_OF_SUM = LIMIT * PASSES
model = nn.Linear(6, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for _ in range(6):
    optimizer.zero_grad()
    for x in torch.randn(PASSES, 8, 6):
        F.mse_loss(model(x), 3 * x.sum(1, keepdim=True)).backward()
    nn.utils.clip_grad_norm_(model.parameters(), LIMIT_OF_SUM)
    for p in model.parameters():
        p.grad.div_(PASSES)
    optimizer.step()

body, first, second = nn.Linear(6, 16), nn.Linear(16, 1), nn.Linear(16, 1)
every = [*body.parameters(), *first.parameters(), *second.parameters()]
optimizer = torch.optim.SGD(every, lr=0.05)
for x in torch.randn(6, 8, 6):
    hidden = body(x).tanh()
    optimizer.zero_grad()
    F.mse_loss(first(hidden), x.sum(1, keepdim=True)).backward(retain_graph=True)
    F.l1_loss(second(hidden), x[:, :1]).backward()
    nn.utils.clip_grad_norm_(every, 1.0)
    for p in body.parameters():
        p.grad.mul_(0.5)
    optimizer.step()


class Shortened(torch.optim.SGD):
    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups[1:]:
            for p in group["params"]:
                p.grad.clamp_(-0.1, 0.1)
        return super().step(closure)


for kind in (torch.optim.SGD, Shortened):
    body, head = nn.Linear(6, 16), nn.Linear(16, 1)
    if kind is torch.optim.SGD:
        for p in head.parameters():
            p.register_hook(lambda g: g.clamp(-0.1, 0.1))
    optimizer = kind([{"params": body.parameters()}, {"params": head.parameters()}], lr=0.05)
    for x in torch.randn(6, 8, 6):
        optimizer.zero_grad()
        F.mse_loss(head(body(x).tanh()), 3 * x.sum(1, keepdim=True)).backward()
        nn.utils.clip_grad_norm_(optimizer.param_groups[0]["params"], 0.5)
        optimizer.step()
