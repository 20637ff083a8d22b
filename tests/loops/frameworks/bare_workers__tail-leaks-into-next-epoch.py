# id: tail-leaks-into-next-epoch
# window: 4
"""The last two micro-batches of an epoch wait, and the next epoch's first step uses them too."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

ACCUMULATION = 4


def main() -> None:
    torch.manual_seed(0)
    loader = DataLoader(TensorDataset(torch.randn(40, 6), torch.randn(40, 1)), batch_size=4, num_workers=2)
    model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(3):
        for index, (inputs, targets) in enumerate(loader):
            loss = nn.functional.mse_loss(model(inputs), targets)
            (loss / ACCUMULATION).backward()  # <-- bug
            if (index + 1) % ACCUMULATION == 0:  # <-- bug
                optimizer.step()  # <-- bug
                optimizer.zero_grad()


if __name__ == "__main__":
    main()
