# bug: B121
# id: snapshot-shares-memory
import torch
from torch import nn


class EarlyStopping:
    def __init__(self, patience=3):
        self.patience, self.waited, self.lowest, self.kept = patience, 0, float("inf"), {}

    def stops(self, loss, model):
        if loss < self.lowest:
            self.lowest, self.waited = loss, 0
            self.kept = {"loss": loss, "model": model.state_dict()}  # <-- bug
        else:
            self.waited += 1
        return self.waited >= self.patience


torch.manual_seed(2)
model = nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
stopping = EarlyStopping()
for epoch in range(12):
    x = torch.randn(12, 4)
    loss = nn.functional.cross_entropy(model(x), x[:, :3].argmax(dim=1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if stopping.stops(abs(epoch - 4), model):
        break
model.load_state_dict(stopping.kept["model"])  # <-- bug
print(epoch)
