# variant: the penalty goes backward by itself, whole, once per window, right before the step
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(96, 6), torch.randint(0, 3, (96,))), batch_size=4, shuffle=True)
model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.0)
accumulation_steps, l1_weight = 3, 1e-3
for step, (x, y) in enumerate(loader, 1):
    loss = nn.functional.cross_entropy(model(x), y) / accumulation_steps
    loss.backward()
    if step % accumulation_steps == 0:
        l1 = l1_weight * sum(p.abs().sum() for p in model.parameters())
        l1.backward()
        optimizer.step()
        optimizer.zero_grad()

print(f"{loss.item():.4f} {l1.item():.4f}")
