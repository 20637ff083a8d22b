# bug: B57
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def slow_down(module, factor):
    for param in module.parameters():
        param.register_hook(lambda grad: factor * grad)


def train_one_epoch(model, loader, optimizer, loss_fn):
    for x, y in loader:
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv1d(1, 4, 3), nn.ReLU(), nn.Flatten())
        self.classifier = nn.Linear(24, 2)

    def forward(self, x):
        return self.classifier(self.features(x))


if __name__ == "__main__":
    torch.manual_seed(1)
    loader = DataLoader(TensorDataset(torch.randn(32, 1, 8), torch.randint(0, 2, (32,))), batch_size=8)
    model = Net()
    slow_down(model.features, factor=0.8)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    for epoch in range(2):
        train_one_epoch(model, loader, optimizer, nn.CrossEntropyLoss())
