# variant: nanoGPT: lr set by hand, next batch fetched early, scaler disabled, cleared after scaler.update()
# window: 4
# reference: yes
import math
from contextlib import nullcontext

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(1337)
gradient_accumulation_steps, max_iters, warmup_iters, lr_decay_iters = 4, 5, 2, 5
learning_rate, min_lr, grad_clip = 1e-2, 1e-3, 1e6
data = torch.randint(0, 13, (400,))
ctx = nullcontext()
model = nn.Sequential(nn.Embedding(13, 8), nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 13)).double()
decay = [p for p in model.parameters() if p.dim() >= 2]
nodecay = [p for p in model.parameters() if p.dim() < 2]
optimizer = torch.optim.AdamW(
    [{"params": decay, "weight_decay": 0.1}, {"params": nodecay, "weight_decay": 0.0}],
    lr=learning_rate,
    betas=(0.9, 0.95),
)
scaler = torch.amp.GradScaler("cpu", enabled=False)
window: list[tuple[torch.Tensor, torch.Tensor]] = []


def get_batch() -> tuple[torch.Tensor, torch.Tensor]:
    ix = torch.randint(len(data) - 8, (2,)).tolist()
    return torch.stack([data[i : i + 8] for i in ix]), torch.stack([data[i + 1 : i + 9] for i in ix])


def get_lr(it: int) -> float:
    if it < warmup_iters:
        return learning_rate * (it + 1) / (warmup_iters + 1)
    coeff = 0.5 * (1.0 + math.cos(math.pi * (it - warmup_iters) / (lr_decay_iters - warmup_iters)))
    return min_lr + coeff * (learning_rate - min_lr)


def reference() -> dict[str, torch.Tensor]:
    named = dict(model.named_parameters())
    xs, ys = torch.cat([a for a, _ in window]), torch.cat([b for _, b in window])
    with torch.enable_grad():
        loss = F.cross_entropy(model(xs).flatten(0, 1), ys.flatten())
    return dict(zip(named, torch.autograd.grad(loss, list(named.values()))))


X, Y = get_batch()
iter_num = 0
while True:
    lr = get_lr(iter_num)
    for param_group in optimizer.param_groups:
        param_group["lr"] = lr
    window.clear()
    for micro_step in range(gradient_accumulation_steps):
        with ctx:
            loss = F.cross_entropy(model(X).flatten(0, 1), Y.flatten())
            loss = loss / gradient_accumulation_steps
        window.append((X, Y))
        X, Y = get_batch()
        scaler.scale(loss).backward()
    if grad_clip != 0.0:
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), grad_clip)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad(set_to_none=True)
    iter_num += 1
    if iter_num > max_iters:
        break

print(f"iter {iter_num}: loss {loss.item() * gradient_accumulation_steps:.4f}")
