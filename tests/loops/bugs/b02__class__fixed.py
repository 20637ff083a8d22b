# bug: B02
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Trainer:
    def __init__(self, model, loader, accum_steps):
        self.model, self.loader, self.accum_steps = model, loader, accum_steps
        self.opt = torch.optim.Adam(model.parameters(), lr=3e-3)
        self.criterion = nn.CrossEntropyLoss()

    def update(self):
        self.opt.step()
        self.opt.zero_grad()

    def fit(self, n_epochs):
        self.model.train()
        for _ in range(n_epochs):
            for step, (inputs, targets) in enumerate(self.loader, start=1):
                loss = self.criterion(self.model(inputs), targets) / self.accum_steps
                loss.backward()
                if step % self.accum_steps == 0:
                    self.update()
        return loss.item() * self.accum_steps


torch.manual_seed(0)
ds = TensorDataset(torch.randn(36, 1, 6, 6), torch.randint(0, 4, (36,)))
net = nn.Sequential(nn.Conv2d(1, 3, 3), nn.ReLU(), nn.Flatten(), nn.Linear(48, 4))
print(Trainer(net, DataLoader(ds, batch_size=4), accum_steps=3).fit(2))
