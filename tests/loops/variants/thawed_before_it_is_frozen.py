# variant: all parameters are made to require gradients, then some are frozen; frozen for a warm-up, thawed behind it
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 2))


def prepare(net):
    for p in net.parameters():
        p.requires_grad = True
    for name, p in net.named_parameters():
        if name.startswith("0."):
            p.requires_grad = False
    step(choose(net, lora=False))


def choose(net, lora):
    if lora:
        for name, p in net.named_parameters():
            p.requires_grad = name.startswith("0.")
            if not p.requires_grad:
                p.requires_grad = False
    else:
        for name, p in net.named_parameters():
            p.requires_grad = True
    return torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.1)


def step(opt):
    x = torch.randn(8, 6)
    loss = nn.functional.cross_entropy(net(x), (x[:, 0] > 0).long())
    opt.zero_grad()
    loss.backward()
    opt.step()


def warm_up(net, steps):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for name, p in net.named_parameters():
        if name.startswith("0."):
            p.requires_grad = False
    for _ in range(steps):
        x = torch.randn(8, 6)
        loss = nn.functional.cross_entropy(net(x), (x[:, 0] > 0).long())
        opt.zero_grad()
        loss.backward()
        opt.step()
    for p in net.parameters():
        p.requires_grad = True
    for _ in range(steps):
        step(opt)


prepare(net)
warm_up(net, 6)
