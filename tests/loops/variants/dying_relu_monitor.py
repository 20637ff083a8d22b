# variant: a monitor reads all gradients after every micro-batch; one layer dies half-way, its gradients become zeros
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class DeadUnitMonitor:
    def __init__(self, model):
        self.layers = {n: m for n, m in model.named_modules() if isinstance(m, nn.Linear)}
        self.dead = {n: [] for n in self.layers}

    def after_backward(self):
        for name, layer in self.layers.items():
            flat = torch.cat([p.grad.reshape(-1) for p in layer.parameters()])
            self.dead[name].append(bool(flat.abs().sum() == 0))


class Trainer:
    def __init__(self, model, window):
        self.model, self.window = model, window
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
        self.monitor = DeadUnitMonitor(model)

    def fit(self, loader, epochs):
        for epoch in range(epochs):
            if epoch == 1:
                self.model.mid.bias.data -= 100.0
            self.model.zero_grad()
            for i, (x, y) in enumerate(loader, 1):
                loss = nn.functional.l1_loss(self.model(x), y)
                loss.div(self.window).backward()
                self.monitor.after_backward()
                if i % self.window == 0:
                    self.optimizer.step()
                    self.model.zero_grad()
        return loss.item()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.mid, self.last = nn.Linear(4, 10), nn.Linear(10, 10), nn.Linear(10, 1)

    def forward(self, x):
        return self.last(self.mid(self.first(x).relu()).relu())


torch.manual_seed(6)
trainer = Trainer(Net(), window=2)
print(f"{trainer.fit(DataLoader(TensorDataset(torch.randn(48, 4), torch.randn(48, 1)), batch_size=6), epochs=3):.4f}")
print({name: sum(flags) for name, flags in trainer.monitor.dead.items()})
