# variant: OneCycleLR stepped once per optimizer step, its length counted in optimizer steps
# window: 4
import torch
from torch import nn

torch.manual_seed(0)
batches = [(torch.randn(4, 6), torch.randn(4, 1)) for _ in range(12)]
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
accum, epochs = 4, 2
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1e-2, total_steps=epochs * len(batches) // accum)
for epoch in range(epochs):
    for i, (inputs, targets) in enumerate(batches):
        loss = nn.functional.mse_loss(model(inputs), targets)
        (loss / accum).backward()
        if (i + 1) % accum == 0:
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()

print(f"{loss.item():.4f}")
