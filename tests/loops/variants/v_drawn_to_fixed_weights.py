# variant: no averages: weights drawn back to the pretrained ones, with rows that never occur and stand still; and
# mixtures of both that are evaluated, by a fixed share and by one that grows, while a warm-up moves hardly anything
import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call


def tagger():
    return nn.Sequential(nn.Embedding(80, 8), nn.Flatten(), nn.Linear(48, 3))


torch.manual_seed(0)
drawn, warmed = tagger(), tagger()
start = {name: p.detach().clone() for name, p in drawn.named_parameters()}
zero_shot = {name: p.detach().clone() for name, p in warmed.named_parameters()}
optimizer = torch.optim.Adam(drawn.parameters(), lr=1e-2)
slow = torch.optim.AdamW(warmed.parameters(), lr=2e-5)
schedule = torch.optim.lr_scheduler.LinearLR(slow, 0.01, 1.0, 500)
x, y = torch.randint(0, 60, (64, 6)), torch.randint(0, 3, (64,))
for step in range(24):
    optimizer.zero_grad()
    F.cross_entropy(drawn(x), y).backward()
    optimizer.step()
    with torch.no_grad():
        for name, p in drawn.named_parameters():
            p.copy_(torch.lerp(start[name], p, 0.95))

    slow.zero_grad()
    loss = F.cross_entropy(warmed(x), y)
    loss.backward()
    slow.step()
    schedule.step()
    with torch.no_grad():
        mixed = {name: 0.9 * p + 0.1 * zero_shot[name] for name, p in warmed.named_parameters()}
        held = F.cross_entropy(functional_call(warmed, mixed, x), y)
        share = min(0.95, 0.2 + 0.1 * step)
        grown = {name: share * p + (1 - share) * zero_shot[name] for name, p in warmed.named_parameters()}
        held += F.cross_entropy(functional_call(warmed, grown, x), y)
print(loss.item(), held.item())
