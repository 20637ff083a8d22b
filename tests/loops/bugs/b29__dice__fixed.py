# bug: B29
import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits as bce


def dice_loss(scores, target):
    """One less the overlap."""
    p = torch.sigmoid(scores).flatten(1)
    t = target.flatten(1)
    return 1 - ((2 * (p * t).sum(1) + 1) / (p.sum(1) + t.sum(1) + 1)).mean()


torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 2, 3, padding=1))
judge = nn.Sequential(nn.Conv2d(2, 8, 3, stride=2), nn.LeakyReLU(0.2), nn.Conv2d(8, 1, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=1e-2)
optimizer_d = torch.optim.Adam(judge.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cpu")
for _ in range(16):
    source, masks, other = (
        torch.randn(4, 1, 12, 12),
        (torch.rand(4, 2, 12, 12) > 0.5).float(),
        torch.randn(4, 1, 12, 12),
    )
    optimizer.zero_grad()
    optimizer_d.zero_grad()
    judge.requires_grad_(False)
    with torch.autocast("cpu", dtype=torch.float16):
        found = net(source)
        loss_seg = dice_loss(found[:, :1], masks[:, :1]) + dice_loss(found[:, 1:], masks[:, 1:])
    scaler.scale(loss_seg).backward()
    with torch.autocast("cpu", dtype=torch.float16):
        foreign = net(other)
        judged = judge(foreign.softmax(1))
        loss_adv = 0.1 * bce(judged, torch.zeros_like(judged))
    scaler.scale(loss_adv).backward()
    judge.requires_grad_(True)
    for scores, label in ((found, 0.0), (foreign, 1.0)):
        with torch.autocast("cpu", dtype=torch.float16):
            judged = judge(scores.detach().softmax(1))
            loss_d = bce(judged, torch.full_like(judged, label)) / 2
        scaler.scale(loss_d).backward()
    scaler.step(optimizer)
    scaler.step(optimizer_d)
    scaler.update()
