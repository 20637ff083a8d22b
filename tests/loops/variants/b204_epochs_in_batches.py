# variant: schedules told in epochs, as many batches; stepped in the loop over batches at its end; over a full batch
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(60, 6), torch.randint(3, (60,))), batch_size=10, shuffle=True)
epochs = 6


def fit(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    milestones = [epoch * len(loader) for epoch in (3, 5)]
    by_batch = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones)
    for _ in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
            by_batch.step()


def fit_slowly(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    by_epoch = torch.optim.lr_scheduler.StepLR(optimizer, step_size=epochs // 2)
    for _ in range(epochs):
        for n, (x, y) in enumerate(loader):
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
            if n + 1 == len(loader):
                by_epoch.step()


fit(nn.Linear(6, 3))
fit_slowly(nn.Linear(6, 3))
