# variant: gradual unfreezing: layers join the optimizer with add_param_group as they thaw
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 3))
for p in model[:4].parameters():
    p.requires_grad_(False)
optimizer = torch.optim.SGD(model[4].parameters(), lr=0.1, momentum=0.9)
thaw = {2: model[2], 4: model[0]}
for epoch in range(6):
    if epoch in thaw:
        for p in thaw[epoch].parameters():
            p.requires_grad_(True)
        optimizer.add_param_group({"params": thaw[epoch].parameters(), "lr": 0.01})
    for _ in range(2):
        x, y = torch.randn(8, 6), torch.randint(0, 3, (8,))
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()

print(f"{loss.item():.4f} {len(optimizer.param_groups)}")
