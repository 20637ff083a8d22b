# bug: B209
import torch
from torch import nn


def clip_grad_norm(parameters, max_norm):
    """As torch's, and returns the norm where nothing is to be clipped, too."""
    grads = [p.grad for p in parameters if p.grad is not None]
    if not grads:
        return torch.zeros(())
    total = torch.norm(torch.stack([torch.norm(g.detach()) for g in grads]))
    factor = torch.clamp(max_norm / (total + 1e-6), max=1.0)
    for g in grads:
        g.detach().mul_(factor)
    return total


class Module:
    def __init__(self, net):
        self.net = net
        self.opt = torch.optim.AdamW(net.parameters(), lr=1e-2)

    def training_step(self, x):
        loss = nn.functional.mse_loss(self.net(x), x)
        return loss

    def before_step(self):
        clip_grad_norm(list(self.net.parameters()), 0.1)


class Loop:
    def __init__(self, module):
        self.module = module

    def run(self, batches):
        for x in batches:
            loss = self.module.training_step(x)
            self.module.opt.zero_grad()
            loss.backward()
            self.module.before_step()
            self.module.opt.step()


torch.manual_seed(0)
Loop(Module(nn.Linear(5, 5))).run([torch.randn(8, 5) for _ in range(16)])
