# bug: B101
import torch
from torch import nn


class Trainer:
    def __init__(self, model, epochs):
        self.model, self.epochs = model, epochs
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
        self.schedule = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, T_max=epochs)

    def step(self, inputs, targets):
        self.optimizer.zero_grad(set_to_none=True)
        loss = nn.functional.cross_entropy(self.model(inputs), targets)
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def fit(self, batches):
        for epoch in range(self.epochs):
            losses = [self.step(inputs, targets) for inputs, targets in batches]
            self.schedule.step()
            print(f"epoch {epoch}: loss {sum(losses) / len(losses):.3f}")


torch.manual_seed(0)
batches = [(torch.randn(8, 6), torch.randint(0, 3, (8,))) for _ in range(9)]
Trainer(nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 3)), epochs=4).fit(batches)
