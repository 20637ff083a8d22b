# bug: B183
import torch


class ScheduledOptim:
    """One optimizer and one schedule for each parameter, kept by the parameter."""

    def __init__(self, scheduler, kind, options):
        self.scheduler, self.kind, self.options, self.held = scheduler, kind, options, {}

    def __call__(self, params):
        for p in params:
            if p not in self.held:
                self.held[p] = self.scheduler(self.kind([p], **self.options), gamma=0.99)
            self.held[p].optimizer.step()
            self.held[p].step()


torch.manual_seed(0)
loc, scale = torch.zeros((), requires_grad=True), torch.zeros((), requires_grad=True)
optim = ScheduledOptim(torch.optim.lr_scheduler.ExponentialLR, torch.optim.SGD, {"lr": 0.05})
data = 3 + 0.5 * torch.randn(64)
for step in range(40):
    loss = -torch.distributions.Normal(loc, scale.exp()).log_prob(data).mean()
    loss.backward()
    optim([loc, scale])
    for p in (loc, scale):
        p.grad = torch.zeros_like(p)
    print(step, loss.item())
