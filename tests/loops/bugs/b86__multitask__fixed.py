# bug: B86
import torch
from torch import nn


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(6, 10)
        self.heads = nn.ModuleList([nn.Linear(10, 2), nn.Linear(10, 1)])

    def forward(self, x, task):
        return self.heads[task](torch.relu(self.trunk(x)))


class Trainer:
    def __init__(self, model):
        self.model = model
        self.shared = list(model.trunk.parameters())
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

    def put(self, params, grads):
        for p, g in zip(params, grads):
            p.grad = g.clone() if p.grad is None else p.grad + g

    def step(self, x, labels, values):
        self.optimizer.zero_grad(set_to_none=True)
        losses = [
            nn.functional.cross_entropy(self.model(x, 0), labels),
            nn.functional.mse_loss(self.model(x, 1), values),
        ]
        for task, loss in enumerate(losses):
            params = self.shared + list(self.model.heads[task].parameters())
            self.put(params, torch.autograd.grad(loss, params))
        self.optimizer.step()
        return sum(loss.item() for loss in losses)


torch.manual_seed(1)
trainer = Trainer(MultiTask())
for _ in range(12):
    total = trainer.step(torch.randn(8, 6), torch.randint(0, 2, (8,)), torch.randn(8, 1))
print(f"{total:.4f}")
