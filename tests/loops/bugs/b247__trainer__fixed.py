# bug: B247
import torch
from torch import nn


def train_epoch(batches, model, optimizer):
    model.train()
    total = 0.0
    for a, b, near in batches:
        distance = (model(a) - model(b)).pow(2).sum(1)
        loss = (near * distance + (1 - near) * nn.functional.relu(1 - distance)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(batches)


def fit(batches, model, optimizer, scheduler, epochs):
    for epoch in range(epochs):
        total = train_epoch(batches, model, optimizer)
        scheduler.step()
        print(f"epoch {epoch + 1}/{epochs}: {total:.4f}")


torch.manual_seed(1)
batches = [(torch.randn(16, 6), torch.randn(16, 6), torch.randint(0, 2, (16,)).float()) for _ in range(6)]
model = nn.Sequential(nn.Linear(6, 16), nn.PReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
fit(batches, model, optimizer, torch.optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.1), 6)
