# variant: a layer frozen in mid-training after its gradients were set to None
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for step in range(8):
    if step == 4:
        for p in model[0].parameters():
            p.grad = None
            p.requires_grad_(False)
        frozen = model[0].weight.detach().clone()
    x, y = torch.randn(8, 6), torch.randint(0, 3, (8,))
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

print(f"{loss.item():.4f} {torch.equal(frozen, model[0].weight)}")
