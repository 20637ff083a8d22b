# bug: B238
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def train_one_epoch(net, loader, criterion, optimizer, scheduler, step_on):
    net.train()
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(net(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
        if step_on == "batch":
            scheduler.step()
    return total / len(loader)


@torch.no_grad()
def validate(net, loader, criterion):
    net.eval()
    return sum(criterion(net(x), y).item() for x, y in loader) / len(loader)


def main():
    torch.manual_seed(21)
    x = torch.randn(80, 5)
    y = (x[:, 0] * x[:, 1] > 0).long()
    train = DataLoader(TensorDataset(x[:60], y[:60]), batch_size=12, shuffle=True)
    held_out = DataLoader(TensorDataset(x[60:], y[60:]), batch_size=20)
    net = nn.Sequential(nn.Linear(5, 20), nn.ReLU(), nn.Linear(20, 2))
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=0)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(5):
        trained = train_one_epoch(net, train, criterion, optimizer, scheduler, step_on="epoch")
        valid = validate(net, held_out, criterion)
        scheduler.step(valid)
        print(f"{epoch}: {trained:.3f} {valid:.3f}")


main()
