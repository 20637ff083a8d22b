# bug: B28
# id: zeros-move-unused-parameters
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class SuperNet(nn.Module):
    """One path through the choice blocks is sampled per batch."""

    def __init__(self, depth=2, choices=3, width=8):
        super().__init__()
        self.stem = nn.Linear(4, width)
        self.layers = nn.ModuleList(
            nn.ModuleList(nn.Linear(width, width) for _ in range(choices)) for _ in range(depth)
        )
        self.out = nn.Linear(width, 2)

    def forward(self, x, path):
        x = torch.relu(self.stem(x))
        for layer, choice in zip(self.layers, path):
            x = torch.relu(layer[choice](x))
        return self.out(x)


def train(model, loader, rng):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.05)
    for _ in range(2):
        for x, y in loader:
            path = [rng.randrange(3) for _ in model.layers]
            loss = nn.functional.cross_entropy(model(x, path), y)
            loss.backward()
            optimizer.step()  # <-- bug
            model.zero_grad(set_to_none=False)  # <-- bug
    return loss.item()


torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(40, 4), torch.randint(0, 2, (40,))), batch_size=8)
print(train(SuperNet(), loader, random.Random(0)))
