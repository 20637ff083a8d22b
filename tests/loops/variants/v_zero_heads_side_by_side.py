# variant: two heads begin at zero, not one behind the other; their losses count from step 25 on, and the run is shorter
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
body, out, shift, scale = nn.Linear(6, 6), nn.Linear(6, 3), nn.Linear(6, 6), nn.Linear(6, 6)
nn.init.zeros_(shift.weight)
nn.init.zeros_(scale.weight)
model = nn.ModuleList([body, out, shift, scale])
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(20):
    x = torch.randn(32, 6)
    hidden = torch.relu(body(x))
    late = F.mse_loss(shift(hidden), x) + F.mse_loss(scale(hidden), x.abs())
    loss = F.cross_entropy(out(hidden), x[:, :3].argmax(1)) + (0.0 if step < 25 else 0.1) * late
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
