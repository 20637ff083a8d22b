# bug: B117
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main():
    torch.manual_seed(1)
    x = torch.randn(64, 10)
    loader = DataLoader(TensorDataset(x, x[:, :4].argmax(1)), batch_size=8, shuffle=True)
    net = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 4))
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    for epoch in range(2):
        for inputs, labels in loader:
            loss = criterion(net(inputs), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


main()
