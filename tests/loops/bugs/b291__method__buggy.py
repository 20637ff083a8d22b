# bug: B291
# id: frozen-and-thawed
# severity: info
import torch
from torch import nn


class Finetuner:
    def __init__(self, net):
        self.net = net
        for name, param in self.net.named_parameters():
            if name.startswith("body"):
                param.requires_grad_(False)
        groups = []
        for param in self.net.parameters():
            param.requires_grad_()  # <-- bug
            if param.requires_grad:
                groups.append({"params": [param], "lr": 0.05 if param.dim() > 1 else 0.1})
        self.opt = torch.optim.SGD(groups, lr=0.05)
        self.step(torch.randn(4, 6))

    def step(self, x):
        loss = self.net.head(torch.tanh(self.net.body(x))).square().mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(6, 8), nn.Linear(8, 2)


torch.manual_seed(1)
tuner = Finetuner(Net())
for _ in range(10):
    tuner.step(torch.randn(8, 6))
