# bug: B158
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

ACCUMULATION_STEPS = 4

torch.manual_seed(0)
x = torch.randn(192, 10)
loader = DataLoader(TensorDataset(x, x[:, :4].argmax(1)), batch_size=8, shuffle=True)
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()

for epoch in range(2):
    total = 0.0
    optimizer.zero_grad()
    for step, (inputs, labels) in enumerate(loader, start=1):
        outputs = model(inputs)
        loss = criterion(outputs, labels)
        loss = loss / ACCUMULATION_STEPS
        loss.backward()
        total += loss.item()
        if step % ACCUMULATION_STEPS == 0:
            optimizer.step()
            optimizer.zero_grad()
    print(f"epoch {epoch}: {total / len(loader):.4f}")
