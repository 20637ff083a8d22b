# variant: BatchNorms kept in eval from the third epoch on, by an overridden train() and by hand
import torch
from torch import nn


class Net(nn.Module):
    frozen = False

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU())
        self.head = nn.Linear(16, 2)

    def forward(self, x):
        return self.head(self.body(x))

    def train(self, mode=True):
        super().train(mode)
        if self.frozen:
            self.body.eval()
        return self


def freeze(module):
    if isinstance(module, nn.BatchNorm1d):
        module.eval()


torch.manual_seed(0)
for by_hand in (False, True):
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for epoch in range(5):
        model.frozen = epoch > 1 and not by_hand
        model.train()
        if epoch > 1 and by_hand:
            model.apply(freeze)
        for x in torch.randn(5, 16, 8):
            with torch.no_grad():
                teacher = model(x).softmax(1)  # its own answer before this step
            loss = (
                nn.functional.cross_entropy(model(x), (x[:, 0] > 0).long())
                + (model(x).softmax(1) - teacher).pow(2).sum()
            )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            print(model(torch.randn(16, 8)).mean().item())
