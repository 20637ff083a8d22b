# bug: B203
import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(4, 12)
        self.score = nn.Linear(12, 1)
        self.objective = torch.tensor(0.0)

    def train_on(self, sequence, optimizer):
        optimizer.zero_grad()
        self.objective = torch.tensor(0.0)
        state = torch.zeros(12)
        for row in sequence:
            state = self.cell(row, state)
            self.objective = self.objective - torch.log(torch.sigmoid(self.score(state))[0])
        (self.objective * 0.1).backward()
        optimizer.step()


torch.manual_seed(0)
model = Tagger()
sgd = torch.optim.SGD(model.parameters(), lr=0.05)
for _ in range(8):
    model.train_on(torch.randn(4, 4), sgd)
print(model.objective.item())
