# bug: B158
import torch
from torch import nn


def masked_mean(values, mask):
    return (values * mask).sum() / mask.sum()


torch.manual_seed(0)
accumulation_steps, inner_epochs = 2, 5
policy = nn.Sequential(nn.Linear(6, 24), nn.Tanh(), nn.Linear(24, 4))
optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-3)
for rollout in range(6):
    states, actions, mask = torch.randn(8, 6), torch.randint(0, 4, (8,)), (torch.rand(8) > 0.3).float()
    advantages, before = torch.randn(8), None
    for epoch in range(inner_epochs):
        begins = epoch // accumulation_steps * accumulation_steps
        window_size = min(accumulation_steps, inner_epochs - begins)
        logits = policy(states).log_softmax(-1)
        chosen = logits.gather(-1, actions[:, None]).squeeze(-1)
        before = chosen.detach() if before is None else before
        surrogate = (chosen - before).exp() * advantages
        entropy = -(logits.exp() * logits).sum(-1)
        loss = -masked_mean(surrogate, mask) - 0.01 * masked_mean(entropy, mask)
        (loss / window_size).backward()
        if (epoch + 1) % accumulation_steps == 0 or epoch + 1 == inner_epochs:
            optimizer.step()
            optimizer.zero_grad()
