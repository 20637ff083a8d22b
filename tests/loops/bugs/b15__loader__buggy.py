# bug: B15
# id: clipped-before-backward
import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_
from torch.utils.data import DataLoader, TensorDataset


def train_epoch(model, loader, optimizer, criterion, grad_clip):
    for x, y in loader:
        optimizer.zero_grad(set_to_none=False)
        loss = criterion(model(x), y)
        if grad_clip > 0:
            clip_grad_norm_(model.parameters(), grad_clip)  # <-- bug
        loss.backward()
        optimizer.step()
    return loss.item()


def main():
    torch.manual_seed(2)
    loader = DataLoader(TensorDataset(torch.randn(32, 6), 10 * torch.randn(32, 1)), batch_size=8, shuffle=True)
    model = nn.Sequential(nn.Linear(6, 6), nn.ELU(), nn.Linear(6, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    for epoch in range(2):
        print(epoch, train_epoch(model, loader, optimizer, nn.MSELoss(), grad_clip=0.5))


if __name__ == "__main__":
    main()
