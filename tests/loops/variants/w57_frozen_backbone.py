# variant: fine-tuning: backbone with requires_grad False, last layer replaced before the optimizer is built
# window: 2
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential()
model.add_module("conv1", nn.Conv2d(1, 4, 3))
model.add_module("bn1", nn.BatchNorm2d(4))
model.add_module("pool", nn.Sequential(nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()))
model.add_module("fc", nn.Linear(4, 1000))
for param in model.parameters():
    param.requires_grad = False
model.fc = nn.Linear(4, 2)
model.eval()
optimizer = torch.optim.SGD(model.fc.parameters(), lr=1e-2, momentum=0.9)
criterion = nn.CrossEntropyLoss()
for epoch in range(3):
    optimizer.zero_grad()
    for _ in range(2):
        inputs, labels = torch.randn(4, 1, 6, 6), torch.randint(0, 2, (4,))
        loss = criterion(model(inputs), labels) / 2
        loss.backward()
    optimizer.step()

print(f"{loss.item():.4f}")
