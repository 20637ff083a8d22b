# bug: B68
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def l2(model):
    return sum(p.pow(2).sum() for name, p in model.named_parameters() if name.endswith("weight"))


def train(model, loader, accumulation_steps=4, weight_penalty=1e-2, epochs=2):
    criterion = nn.MSELoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(epochs):
        for batch_idx, (inputs, targets) in enumerate(loader):
            loss = criterion(model(inputs), targets)
            loss = loss + weight_penalty * l2(model)
            loss = loss / accumulation_steps
            loss.backward()
            if (batch_idx + 1) % accumulation_steps == 0:
                optimizer.step()
                optimizer.zero_grad()
        print(f"epoch {epoch}: {loss.item():.4f}")


torch.manual_seed(9)
x = torch.randn(80, 7)
net = nn.Sequential(nn.Linear(7, 14), nn.ReLU(), nn.Linear(14, 1))
train(net, DataLoader(TensorDataset(x, x[:, :1] * x[:, 1:2]), batch_size=4, shuffle=True))
