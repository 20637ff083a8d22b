# bug: B286
# id: steps-without-backward
import torch
from torch import nn

torch.manual_seed(1)
model = nn.Sequential(nn.Linear(6, 20), nn.GELU(), nn.Linear(20, 4))
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
x = torch.randn(240, 6)
y = (x[:, 0] > 0).long() + 2 * (x[:, 1] > 0).long()

for step in range(30):
    rows = torch.randint(0, 240, (16,))
    loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
    optimizer.zero_grad(set_to_none=True)
    if step % 5 == 0 or step == 29:
        print(f"step {step}: {loss.item():.4f}")
        loss.backward()  # <-- bug
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
