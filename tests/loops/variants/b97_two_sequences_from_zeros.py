# variant: one cell reads two sequences, each from zeros, for one backward: twice a state without a graph
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Reader(nn.Module):
    def __init__(self, dim=5, hidden=12):
        super().__init__()
        self.cell = nn.LSTMCell(dim, hidden)

    def forward(self, x):
        state = (x.new_zeros(len(x), self.cell.hidden_size), x.new_zeros(len(x), self.cell.hidden_size))
        for step in x.transpose(0, 1):
            state = self.cell(step, state)
        return state[0]


class Entailment(nn.Module):
    def __init__(self):
        super().__init__()
        self.reader, self.classify = Reader(), nn.Linear(36, 3)

    def forward(self, premise, hypothesis):
        p, h = self.reader(premise), self.reader(hypothesis)
        return self.classify(torch.cat([p, h, p - h], dim=1))


torch.manual_seed(0)
data = TensorDataset(torch.randn(72, 4, 5), torch.randn(72, 3, 5), torch.randint(3, (72,)))
model = Entailment()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for premise, hypothesis, y in DataLoader(data, batch_size=8, shuffle=True):
    optimizer.zero_grad()
    F.cross_entropy(model(premise, hypothesis), y).backward()
    optimizer.step()
