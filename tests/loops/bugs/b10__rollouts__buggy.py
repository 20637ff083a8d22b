# bug: B10
# id: tail-leaks-into-next-epoch
import torch
from torch import nn

torch.manual_seed(0)
accumulation_steps, inner_epochs = 2, 3
policy = nn.Sequential(nn.Linear(6, 24), nn.Tanh(), nn.Linear(24, 4))
optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-3)
for rollout in range(8):
    states, actions, advantages = torch.randn(8, 6), torch.randint(0, 4, (8,)), torch.randn(8)
    for epoch in range(inner_epochs):
        begins = epoch // accumulation_steps * accumulation_steps
        window_size = min(accumulation_steps, inner_epochs - begins)
        should_update = (epoch + 1) % accumulation_steps == 0  # <-- bug
        logits = policy(states).log_softmax(-1)
        chosen = logits.gather(-1, actions[:, None]).squeeze(-1)
        entropy = -(logits.exp() * logits).sum(-1).mean()
        loss = -(chosen * advantages).mean() - 0.01 * entropy
        (loss / window_size).backward()
        if not should_update:
            continue
        optimizer.step()
        optimizer.zero_grad()
