# bug: B118
import torch
from torch import nn


class Trainer:
    def __init__(self, backbone, head):
        self.model = nn.Sequential(backbone, head)
        groups = [{"params": backbone.parameters(), "lr": 1e-3}, {"params": head.parameters(), "lr": 1e-2}]
        self.optimizer = torch.optim.SGD(groups, momentum=0.9)

    def clip(self, limit):
        parameters = [p for group in self.optimizer.param_groups for p in group["params"]]
        torch.nn.utils.clip_grad_value_(
            parameters,
            limit,
        )

    def step(self, x, y):
        self.optimizer.zero_grad()
        nn.functional.cross_entropy(self.model(x), y).backward()
        self.clip(0.01)
        self.optimizer.step()


torch.manual_seed(1)
trainer = Trainer(nn.Sequential(nn.Linear(8, 16), nn.ReLU()), nn.Linear(16, 3))
for x in torch.randn(12, 16, 8):
    trainer.step(x, x[:, :3].argmax(1))
