# variant: Weights in bfloat16 with steps large enough for them, and an optimizer of one's own that keeps what is lost.
import torch
from torch import nn


class Compensated(torch.optim.SGD):
    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                lost = self.state[p].setdefault("lost", torch.zeros_like(p))
                lost.add_(p.grad, alpha=-group["lr"])
                before = p.clone()
                p.add_(lost)
                lost.sub_(p - before)


torch.manual_seed(6)
models = [nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 1)).bfloat16() for _ in range(2)]
optimizers = [torch.optim.Adam(models[0].parameters(), lr=2e-2), Compensated(models[1].parameters(), lr=1e-3)]
for _ in range(40):
    x = torch.randn(32, 8)
    for model, optimizer in zip(models, optimizers):
        loss = nn.functional.mse_loss(model(x.bfloat16()).float(), x[:, :1].sin())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
