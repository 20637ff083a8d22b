# bug: B250
# id: never-frozen
import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU())
        self.head = nn.Linear(16, 4)

    def forward(self, x):
        return self.head(self.backbone(x))


def freeze(part):
    for p in part.parameters():
        p.requires_grad_(False)


def main():
    torch.manual_seed(0)
    model = Classifier()  # stands for a pre-trained one
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)  # <-- bug
    for step in range(16):
        x = torch.randn(32, 8)
        loss = nn.functional.cross_entropy(model(x), x[:, :4].argmax(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())


main()
