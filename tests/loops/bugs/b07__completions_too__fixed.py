# bug: B07
import torch
from torch import nn

torch.manual_seed(2)
policy = nn.Sequential(nn.Embedding(9, 12), nn.Linear(12, 9))
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
WINDOW = 3


def policy_loss(tokens, mask, advantages, normalizer):
    logps = policy(tokens[:, :-1]).log_softmax(-1).gather(-1, tokens[:, 1:, None]).squeeze(-1)
    ratio = (logps - logps.detach()).exp()
    per_token = -torch.min(ratio * advantages[:, None], ratio.clamp(0.8, 1.2) * advantages[:, None])
    return (per_token * mask).sum() / normalizer


for update in range(8):
    rollouts = []
    for _ in range(WINDOW):
        tokens = torch.randint(0, 9, (5, 8))
        mask = (torch.arange(7) < torch.randint(6, 8, (5, 1))).float()
        rollouts.append((tokens, mask, torch.randn(5)))
    normalizer = sum(mask.sum() for _, mask, _ in rollouts)
    optimizer.zero_grad()
    for tokens, mask, advantages in rollouts:
        loss = policy_loss(tokens, mask, advantages, normalizer)
        loss.backward()
    nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
    optimizer.step()
