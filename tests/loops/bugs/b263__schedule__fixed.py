# bug: B263
import logging

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def train(model, loader, optimizer, lr_scheduler, log_interval):
    model.train()
    for step, (x, y) in enumerate(loader):
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        lr_scheduler.step()
        if (step + 1) % log_interval == 0:
            logging.info("%d %.4f", step, loss.item())


torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(64, 5), torch.randint(0, 3, (64,))), batch_size=4)
model = nn.Sequential(nn.Linear(5, 16), nn.Dropout(0.1), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
lr_scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 0.98**step)
for _ in range(2):
    train(model, loader, optimizer, lr_scheduler, log_interval=4)
