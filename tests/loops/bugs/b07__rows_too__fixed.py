# bug: B07
import torch
from torch import nn

torch.manual_seed(0)

model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
criterion = nn.MSELoss()
data = torch.randn(96, 6)
targets = torch.stack([data.sum(1), data.prod(1)], dim=1)


def train(epochs, batch_size):
    for epoch in range(epochs):
        total = 0.0
        for rows in torch.randperm(96).split(batch_size):
            inputs, wanted = data[rows], targets[rows]
            optimizer.zero_grad()
            loss = criterion(model(inputs), wanted)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(epoch, total)


train(epochs=4, batch_size=16)
