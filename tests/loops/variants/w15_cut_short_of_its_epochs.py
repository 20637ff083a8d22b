# variant: a schedule over epochs, as its text says, of which a trial runs the first ones
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Linear(6, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
num_epochs, trial = 100, 3
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=num_epochs)
for epoch in range(trial):
    for step in range(8):
        x = torch.randn(16, 6)
        loss = F.cross_entropy(model(x), x[:, :3].argmax(dim=1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    scheduler.step()
print(f"{loss:.4f}")
