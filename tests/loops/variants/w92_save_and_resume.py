# variant: checkpoint saved between windows, model, optimizer and scheduler made anew and resumed
# window: 2
import io

import torch
from torch import nn


def build() -> tuple[nn.Module, torch.optim.Optimizer, torch.optim.lr_scheduler.LRScheduler]:
    net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
    opt = torch.optim.AdamW(net.parameters(), lr=1e-2)
    return net, opt, torch.optim.lr_scheduler.StepLR(opt, 2)


def run(net: nn.Module, opt: torch.optim.Optimizer, sched, steps: range) -> None:
    for step in steps:
        for xb, yb in zip(x.chunk(2), y.chunk(2)):
            (nn.functional.mse_loss(net(xb), yb) / 2).backward()
        opt.step()
        opt.zero_grad()
        sched.step()


torch.manual_seed(0)
x, y = torch.randn(16, 6), torch.randn(16, 1)
model, optimizer, scheduler = build()
run(model, optimizer, scheduler, range(3))
file = io.BytesIO()
torch.save({"model": model.state_dict(), "opt": optimizer.state_dict(), "sched": scheduler.state_dict()}, file)
run(model, optimizer, scheduler, range(3, 6))

file.seek(0)
saved = torch.load(file)
resumed, optimizer2, scheduler2 = build()
resumed.load_state_dict(saved["model"])
optimizer2.load_state_dict(saved["opt"])
scheduler2.load_state_dict(saved["sched"])
run(resumed, optimizer2, scheduler2, range(3, 6))

print(all(torch.equal(p, q) for p, q in zip(model.parameters(), resumed.parameters())))
