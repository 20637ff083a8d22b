# bug: B08b
# id: summed-loss-keeps-graphs
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


def train_on_group(model, group, criterion, optimizer):
    optimizer.zero_grad()
    losses = []
    for x, y in group:
        losses.append(criterion(model(x), y))  # <-- bug
    torch.stack(losses).mean().backward()  # <-- bug
    optimizer.step()


def groups_of(loader, n):
    group = []
    for batch in loader:
        group.append(batch)
        if len(group) == n:
            yield group
            group = []
    if group:
        yield group


net = nn.Sequential(nn.Flatten(), nn.Linear(25, 16), nn.ReLU(), nn.Linear(16, 3))
dl = DataLoader(TensorDataset(torch.randn(72, 1, 5, 5), torch.randint(0, 3, (72,))), batch_size=3)
adamw = torch.optim.AdamW(net.parameters(), lr=1e-3)
for group in groups_of(dl, 4):
    train_on_group(net, group, nn.CrossEntropyLoss(), adamw)
