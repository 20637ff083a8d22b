# truth: clean
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
"""GradCache (contrastive learning in chunks) under a GradScaler, as in luyug/GradCache with fp16=True."""
enc = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 8))
opt = torch.optim.AdamW(enc.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)


def contrastive(q, d):
    return F.cross_entropy(q @ d.T, torch.arange(len(q)))


for step in range(6):
    q, d = torch.randn(16, 8), torch.randn(16, 8)
    opt.zero_grad()
    with torch.no_grad():
        reps = [torch.cat([enc(c) for c in x.split(4)]) for x in (q, d)]
    reps = [r.detach().requires_grad_() for r in reps]
    loss = contrastive(*reps)
    scaler.scale(loss).backward()
    cache = [r.grad for r in reps]
    for x, g in zip((q, d), cache):
        for chunk, gc in zip(x.split(4), g.split(4)):
            surrogate = torch.dot(enc(chunk).flatten(), gc.flatten())
            surrogate.backward()
    scaler.step(opt)
    scaler.update()
print(loss.item())
