# bug: B11
# needs: reference
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
model = nn.Sequential(nn.Linear(4, 10), nn.ReLU(), nn.Linear(10, 3))
criterion = nn.CrossEntropyLoss()
window: list = []


class Trainer:
    def __init__(self, loader, accum):
        self.loader = loader
        self.accum = accum
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    def loss_weight(self, step):
        first = step // self.accum * self.accum
        return 1.0 / min(self.accum, len(self.loader) - first)

    def fit(self, epochs):
        for _ in range(epochs):
            for step, batch in enumerate(self.loader):
                window.append(batch)
                inputs, labels = batch
                loss = criterion(model(inputs), labels).mul(self.loss_weight(step))
                loss.backward()
                last = step == len(self.loader) - 1
                if (step + 1) % self.accum == 0 or last:
                    self.optimizer.step()
                    self.optimizer.zero_grad(set_to_none=False)
                    window.clear()


def reference() -> dict[str, torch.Tensor]:
    inputs = torch.cat([b[0] for b in window])
    labels = torch.cat([b[1] for b in window])
    params = dict(model.named_parameters())
    return dict(zip(params, torch.autograd.grad(criterion(model(inputs), labels), list(params.values()))))


Trainer(DataLoader(TensorDataset(torch.randn(40, 4), torch.randint(0, 3, (40,))), batch_size=4), accum=3).fit(2)
