# bug: B249
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def adjust_learning_rate(optimizer, epoch, initial=0.1):
    rate = initial * 0.1 ** (epoch // 2)
    for group in optimizer.param_groups:
        group["lr"] = rate


def train(loader, model, optimizer):
    model.train()
    for inputs, labels in loader:
        loss = nn.functional.cross_entropy(model(inputs), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


torch.manual_seed(0)
x = torch.randn(64, 10)
loader = DataLoader(TensorDataset(x, x[:, :3].argmax(1)), batch_size=16)
model = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for epoch in range(5):
    adjust_learning_rate(optimizer, epoch)
    print(epoch, train(loader, model, optimizer))
