# variant: optimizer over the head only while the backbone still requires grad; model.zero_grad() clears both
# window: 2
import torch
from torch import nn

torch.manual_seed(0)
model = nn.ModuleDict({"backbone": nn.Linear(6, 16), "head": nn.Linear(16, 3)})
optimizer = torch.optim.Adam(model["head"].parameters(), lr=1e-2)
for step in range(5):
    model.zero_grad()
    for _ in range(2):
        x, y = torch.randn(8, 6), torch.randint(0, 3, (8,))
        logits = model["head"](torch.relu(model["backbone"](x)))
        loss = nn.functional.cross_entropy(logits, y) / 2
        loss.backward()
    nn.utils.clip_grad_norm_(model["head"].parameters(), 1.0)
    optimizer.step()

print(f"{loss.item():.4f}")
