# bug: B03
# id: zeroed-before-step
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(7)
loader = DataLoader(TensorDataset(torch.randn(48, 12), torch.randint(0, 2, (48,))), batch_size=8, shuffle=True)
model = nn.Sequential(nn.Linear(12, 10), nn.GELU(), nn.Linear(10, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.1)

for epoch in range(2):
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        for p in model.parameters():
            p.grad.zero_()  # <-- bug
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
