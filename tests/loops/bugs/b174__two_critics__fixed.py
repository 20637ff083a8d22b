# bug: B174
import torch
import torch.nn.functional as F
from torch import nn


def requires_grad(nets, flag):
    for net in nets:
        for p in net.parameters():
            p.requires_grad_(flag)


def network(inner):
    return nn.Sequential(nn.Linear(3, inner), nn.LeakyReLU(0.2), nn.Linear(inner, 3))


torch.manual_seed(12)
there, back = network(12), network(12)
judge_there, judge_back = network(8), network(8)
for_makers = torch.optim.Adam([*there.parameters(), *back.parameters()], lr=1e-3)
for_judges = torch.optim.Adam([*judge_there.parameters(), *judge_back.parameters()], lr=1e-3)
for _ in range(16):
    left, right = torch.randn(10, 3), torch.rand(10, 3)
    requires_grad([judge_there, judge_back], False)
    made_right, made_left = there(left), back(right)
    fooled = -judge_there(made_right).mean() - judge_back(made_left).mean()
    loss = fooled + F.l1_loss(back(made_right), left) + F.l1_loss(there(made_left), right)
    for_makers.zero_grad()
    loss.backward()
    for_makers.step()

    requires_grad([judge_there, judge_back], True)
    seen_right, seen_left = made_right.detach(), made_left.detach()
    judged = F.relu(1 - judge_there(right)).mean() + F.relu(1 + judge_there(seen_right)).mean()
    judged = judged + F.relu(1 - judge_back(left)).mean() + F.relu(1 + judge_back(seen_left)).mean()
    for_judges.zero_grad()
    judged.backward()
    for_judges.step()
print(f"{loss.item():.4f} {judged.item():.4f}")
