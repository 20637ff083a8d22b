# bug: B70
# id: optimizer-in-backward-accumulates
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer_dict = {p: torch.optim.Adam([p], lr=1e-2, foreach=False) for p in model.parameters()}
schedulers = [torch.optim.lr_scheduler.ExponentialLR(opt, 0.95) for opt in optimizer_dict.values()]


def optimizer_hook(parameter):
    optimizer_dict[parameter].step()  # <-- bug
    optimizer_dict[parameter].zero_grad()


for p in model.parameters():
    p.register_post_accumulate_grad_hook(optimizer_hook)

for window in range(8):
    window_loss = 0.0
    for micro in range(4):
        x, y = torch.randn(4, 8), torch.randint(0, 3, (4,))
        loss = F.cross_entropy(model(x), y) / 4
        loss.backward()  # <-- bug
        window_loss += loss.item()
    for scheduler in schedulers:
        scheduler.step()
print(f"{window_loss:.4f}")
