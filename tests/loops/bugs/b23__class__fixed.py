# bug: B23
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(18, 6)
        self.decoder = nn.Linear(6, 18, bias=False)
        self.decoder.weight = self.embed.weight  # tied

    def forward(self, ids):
        return self.decoder(self.embed(ids))


class Trainer:
    def __init__(self, net, loader):
        self.net, self.loader = net, loader
        self.optimizers = [
            torch.optim.SGD(net.embed.parameters(), lr=0.1),
        ]

    def run(self):
        for ids, nxt in self.loader:
            for optimizer in self.optimizers:
                optimizer.zero_grad()
            loss = nn.functional.cross_entropy(self.net(ids), nxt)
            loss.backward()
            for optimizer in self.optimizers:
                optimizer.step()
        return loss.item()


torch.manual_seed(0)
ids = torch.randint(0, 18, (48,))
print(Trainer(Net(), DataLoader(TensorDataset(ids, (ids + 1) % 18), batch_size=8)).run())
