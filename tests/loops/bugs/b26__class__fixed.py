# bug: B26
import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_
from torch.utils.data import DataLoader, TensorDataset


class Adapter(nn.Module):
    def __init__(self):
        super().__init__()
        self.base = nn.Linear(6, 12)
        self.adapter = nn.Linear(12, 12)
        self.out = nn.Linear(12, 3)

    def forward(self, x):
        h = torch.relu(self.base(x))
        return self.out(h + self.adapter(h))


class Trainer:
    def __init__(self, model, accum):
        self.model, self.accum = model, accum
        trainable = [*model.adapter.parameters(), *model.out.parameters()]
        self.optimizer = torch.optim.SGD(trainable, lr=0.3, momentum=0.9)

    def fit(self, loader):
        for i, (x, y) in enumerate(loader):
            loss = nn.functional.cross_entropy(self.model(x), y)
            (loss / self.accum).backward()
            if (i + 1) % self.accum == 0:
                clip_grad_norm_(self.model.parameters(), 0.1)
                self.optimizer.step()
                self.model.zero_grad()
        return loss.item()


torch.manual_seed(8)
print(Trainer(Adapter(), 2).fit(DataLoader(TensorDataset(torch.randn(48, 6), torch.randint(0, 3, (48,))), 4)))
