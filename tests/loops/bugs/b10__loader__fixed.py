# bug: B10
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(2)
loader = DataLoader(TensorDataset(torch.randn(40, 6), torch.randint(0, 3, (40,))), batch_size=4, shuffle=True)
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
gradient_accumulation_steps = 4

model.train()
for epoch in range(3):
    for step, (inputs, labels) in enumerate(loader):
        loss = criterion(model(inputs), labels)
        in_window = min(gradient_accumulation_steps, len(loader) - step + step % gradient_accumulation_steps)
        loss = loss / in_window
        loss.backward()
        if (step + 1) % gradient_accumulation_steps == 0 or step == len(loader) - 1:
            optimizer.step()
            optimizer.zero_grad()
print(f"last loss {loss.item():.4f}")
