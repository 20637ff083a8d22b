# variant: param_groups[0] is clipped, and the other groups are too, or there are none, or it is for the norm
import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_, clip_grad_value_

torch.manual_seed(0)


def groups_of(model):
    return [{"params": model[0].parameters()}, {"params": model[2].parameters(), "lr": 0.01}]


def by_a_loop(optimizer):
    for group in optimizer.param_groups:
        clip_grad_norm_(group["params"], 0.1)


def one_by_one(optimizer):
    clip_grad_norm_(optimizer.param_groups[0]["params"], 0.1)
    clip_grad_norm_(optimizer.param_groups[1]["params"], 0.2)


def by_hand(optimizer):
    clip_grad_value_(optimizer.param_groups[0]["params"], 0.01)
    for p in optimizer.param_groups[1]["params"]:
        p.grad.clamp_(-0.02, 0.02)


def together(optimizer):
    clip_grad_norm_(optimizer.param_groups[0]["params"] + optimizer.param_groups[1]["params"], 0.1)


def for_the_log(optimizer):
    print(clip_grad_norm_(optimizer.param_groups[0]["params"], float("inf")).item())
    print(clip_grad_norm_(optimizer.param_groups[0]["params"], 1e9).item())


for clip in (by_a_loop, one_by_one, by_hand, together, for_the_log):
    model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = torch.optim.Adam(groups_of(model), lr=1e-3)
    for x in torch.randn(6, 8, 6):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), x[:, :1]).backward()
        clip(optimizer)
        optimizer.step()

model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
model[2].requires_grad_(False)
for optimizer in (
    torch.optim.Adam(model.parameters()),
    torch.optim.Adam(groups_of(model)),
):  # one group; one that learns
    for x in torch.randn(6, 8, 6):
        model.zero_grad()
        nn.functional.mse_loss(model(x), x[:, :1]).backward()
        clip_grad_norm_(optimizer.param_groups[0]["params"], 0.1)
        optimizer.step()
