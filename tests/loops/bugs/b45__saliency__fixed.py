# bug: B45
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def saliency(model, images, labels):
    images = images.clone().requires_grad_()
    score = model(images).gather(1, labels[:, None]).sum()
    score.backward()
    return images.grad.abs()


def train(model, loader, optimizer, criterion):
    for step, (images, labels) in enumerate(loader):
        mask = saliency(model, images, labels) > 0.05
        optimizer.zero_grad()
        loss = criterion(model(images * mask), labels)
        loss.backward()
        optimizer.step()
    return loss.item()


def main():
    torch.manual_seed(1)
    loader = DataLoader(TensorDataset(torch.randn(32, 1, 6, 6), torch.randint(0, 3, (32,))), batch_size=4)
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(64, 3))
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    print(train(model, loader, optimizer, nn.CrossEntropyLoss()))


if __name__ == "__main__":
    main()
