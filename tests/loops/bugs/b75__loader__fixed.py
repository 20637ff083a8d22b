# bug: B75
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
data = TensorDataset(torch.randn(48, 6), torch.randint(0, 3, (48,)))
loader = DataLoader(data, batch_size=4, shuffle=True)
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
accumulation_steps = 4

for epoch in range(3):
    model.train()
    optimizer.zero_grad()
    for step, (inputs, labels) in enumerate(loader):
        loss = criterion(model(inputs), labels)
        (loss / accumulation_steps).backward()
        if (step + 1) % accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()
    print(f"epoch {epoch}: {loss.item():.4f}")
