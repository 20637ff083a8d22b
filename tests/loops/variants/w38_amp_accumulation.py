# variant: float16 autocast and accumulation: unscaled, clipped, stepped and updated once per window
# window: 4
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**12)
iters_to_accumulate = 4
data = [(torch.randn(4, 6), torch.randint(0, 3, (4,))) for _ in range(16)]
for i, (inp, target) in enumerate(data):
    with torch.autocast(device_type="cpu", dtype=torch.float16):
        output = net(inp)
        loss = nn.functional.cross_entropy(output, target)
        loss = loss / iters_to_accumulate
    scaler.scale(loss).backward()
    if (i + 1) % iters_to_accumulate == 0:
        scaler.unscale_(opt)
        torch.nn.utils.clip_grad_norm_(net.parameters(), max_norm=0.5)
        scaler.step(opt)
        scaler.update()
        opt.zero_grad()

print(f"{loss.item():.4f} {scaler.get_scale()}")
