# variant: online hard example mining: a forward with graph on all, then only the hardest samples forward and backward
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(96, 6), torch.randint(0, 3, (96,))), batch_size=12)
model = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 3))
criterion = nn.CrossEntropyLoss(reduction="none")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
model.train()
for x, y in loader:
    every = criterion(model(x), y)
    hard = every.topk(4).indices
    loss = criterion(model(x[hard]), y[hard]).sum() / 4
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

print(f"{loss.item():.4f}")
