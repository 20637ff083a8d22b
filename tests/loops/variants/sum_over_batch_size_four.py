# variant: summed loss divided by the batch size, which is four, a step for every batch
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
batch_size = 4
loader = DataLoader(TensorDataset(torch.randn(40, 7), torch.randint(0, 3, (40,))), batch_size=batch_size)
net = nn.Sequential(nn.Linear(7, 14), nn.ReLU(), nn.Linear(14, 3))
criterion = nn.CrossEntropyLoss(reduction="sum")
optimizer = torch.optim.AdamW(net.parameters(), lr=5e-3)
for epoch in range(2):
    for inputs, labels in loader:
        loss = criterion(net(inputs), labels) / 4
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()

print(f"{loss.item():.4f}")
