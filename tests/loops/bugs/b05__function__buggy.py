# bug: B05
# id: zeroed-inside-window
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

GRAD_ACCUM = 3


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(2, 6, batch_first=True)
        self.head = nn.Linear(6, 1)

    def forward(self, series):
        out, _ = self.rnn(series)
        return self.head(out[:, -1])


def train_step(model, optimizer, batch, criterion, update):
    series, target = batch
    optimizer.zero_grad()  # <-- bug
    loss = criterion(model(series), target)
    torch.autograd.backward(loss / GRAD_ACCUM)
    if update:
        optimizer.step()
    return loss.item()


def main():
    torch.manual_seed(11)
    loader = DataLoader(TensorDataset(torch.randn(36, 5, 2), torch.randn(36, 1)), batch_size=4)
    model = Forecaster()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for _ in range(2):
        for step, batch in enumerate(loader):
            loss = train_step(model, optimizer, batch, nn.L1Loss(), update=step % GRAD_ACCUM == GRAD_ACCUM - 1)
    print(f"final {loss:.4f}")


main()
