# bug: B01
# id: never-zeroed
import torch
import torch.nn.functional as F
from torch import nn


class Tuner:
    def __init__(self, stages, head):
        self.stages, self.head, self.pending = stages, head, list(reversed(stages))
        self.stages.requires_grad_(False)
        self.optimizer = torch.optim.AdamW(head.parameters(), lr=1e-2)

    def release(self):
        stage = self.pending.pop(0)
        stage.requires_grad_(True)
        self.optimizer.add_param_group({"params": list(stage.parameters()), "lr": 1e-3})

    def epoch(self, batches):
        for x, y in batches:
            loss = F.cross_entropy(self.head(self.stages(x)), y)
            loss.backward()  # <-- bug
            self.optimizer.step()
            self.optimizer.zero_grad()


def pretrain(stages, batches):
    head = nn.Linear(12, 4)
    optimizer = torch.optim.SGD([*stages.parameters(), *head.parameters()], lr=0.1)
    for x, y in batches:
        loss = F.cross_entropy(head(stages(x)), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


torch.manual_seed(0)
stages = nn.Sequential(nn.Sequential(nn.Linear(6, 12), nn.Tanh()), nn.Sequential(nn.Linear(12, 12), nn.Tanh()))
pretrain(stages, [(torch.randn(8, 6), torch.randint(4, (8,))) for _ in range(8)])
tuner = Tuner(stages, nn.Linear(12, 3))
batches = [(torch.randn(8, 6), torch.randint(3, (8,))) for _ in range(6)]
for number in range(4):
    if number in (1, 2):
        tuner.release()
    tuner.epoch(batches)
