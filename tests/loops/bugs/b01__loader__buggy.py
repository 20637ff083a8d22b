# bug: B01
# id: never-zeroed
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)


class SmallCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1)
        self.fc = nn.Linear(4 * 8 * 8, 3)

    def forward(self, x):
        return self.fc(torch.relu(self.conv(x)).flatten(1))


def train(model, loader, criterion, optimizer):
    model.train()
    total = 0.0
    for images, labels in loader:
        logits = model(images)
        loss = criterion(logits, labels)
        loss.backward()  # <-- bug
        optimizer.step()  # <-- bug
        total += loss.item() * len(images)
    return total / len(loader.dataset)


def main():
    data = TensorDataset(torch.randn(32, 1, 8, 8), torch.randint(0, 3, (32,)))
    loader = DataLoader(data, batch_size=8, shuffle=True)
    model = SmallCNN()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    for epoch in range(2):
        loss = train(model, loader, nn.CrossEntropyLoss(), optimizer)
        print(f"epoch {epoch}: {loss:.4f}")


if __name__ == "__main__":
    main()
