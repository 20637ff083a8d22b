# bug: B44
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
accumulate = 4
loader = DataLoader(TensorDataset(torch.randn(96, 8), torch.randn(96, 1)), batch_size=4)

for epoch in range(3):
    for batch_i, (inputs, targets) in enumerate(loader):
        done = len(loader) * epoch + batch_i
        loss = nn.functional.mse_loss(model(inputs), targets) / accumulate
        loss.backward()
        if (done + 1) % accumulate == 0:
            # a whole window is together
            optimizer.step()
            optimizer.zero_grad()
    print(epoch, loss.item())
