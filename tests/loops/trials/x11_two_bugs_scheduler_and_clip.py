# truth: scheduler-every-micro-batch clipped-every-micro-batch
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
"""Two mistakes in one loop: scheduler and value clipping both run for every micro-batch."""
emb = nn.Embedding(30, 8)
att = nn.MultiheadAttention(8, 2, batch_first=True)
out = nn.Linear(8, 30)
params = [*emb.parameters(), *att.parameters(), *out.parameters()]
opt = torch.optim.AdamW(params, lr=3e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 8)
k, done = 4, 0
while done < 32:
    t = torch.randint(0, 30, (4, 6))
    e = emb(t[:, :-1])
    loss = F.cross_entropy(out(att(e, e, e)[0]).flatten(0, 1), t[:, 1:].flatten())
    (loss / k).backward()
    nn.utils.clip_grad_value_(params, 0.01)  # <-- bug
    done += 1
    if not done % k:
        opt.step()
        opt.zero_grad(set_to_none=True)
    sched.step()  # <-- bug
