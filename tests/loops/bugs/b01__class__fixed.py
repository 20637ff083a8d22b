# bug: B01
import torch
from torch import nn


class Trainer:
    def __init__(self, model, batches, accumulate=2, lr=0.02):
        self.model = model
        self.batches = batches
        self.accumulate = accumulate
        self.loss_fn = nn.MSELoss()
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9, foreach=True)

    def training_step(self, batch):
        x, y = batch
        loss = self.loss_fn(self.model(x), y) / self.accumulate
        loss.backward()
        return loss.item()

    def optimizer_step(self):
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)

    def fit(self, epochs):
        for _ in range(epochs):
            running = 0.0
            for i, batch in enumerate(self.batches):
                running += self.training_step(batch)
                if (i + 1) % self.accumulate == 0:
                    self.optimizer_step()
        return running


torch.manual_seed(2)
net = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 1))
data = [(torch.randn(4, 6), torch.randn(4, 1)) for _ in range(8)]
print(f"{Trainer(net, data).fit(epochs=2):.4f}")
