# variant: one optimizer per parameter, stepped from a post-accumulate hook on the window's last micro-batch
# window: 4
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 2)).double()
criterion = nn.MSELoss()
x = torch.randn(24, 10, dtype=torch.float64)
y = torch.randn(24, 2, dtype=torch.float64)
micro_batches = list(zip(x.chunk(4), y.chunk(4), strict=True))
accumulation_steps = 4

optimizers = {p: torch.optim.AdamW([p], lr=1e-2) for p in model.parameters()}
last_of_window = False


def step_now(p: torch.Tensor) -> None:
    if last_of_window:
        optimizers[p].step()
        optimizers[p].zero_grad()


for p in model.parameters():
    p.register_post_accumulate_grad_hook(step_now)

for step in range(6):
    for i, (inputs, targets) in enumerate(micro_batches):
        last_of_window = i == accumulation_steps - 1
        (criterion(model(inputs), targets) / accumulation_steps).backward()

print(f"loss {criterion(model(x), y).item():.6f}")
