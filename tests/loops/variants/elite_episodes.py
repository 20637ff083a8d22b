# variant: cross-entropy method with gradients: four episodes played with graphs, only the best one's actions are learnt
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)


def episode(length: int = 5) -> tuple[torch.Tensor, float]:
    state, log_probs, score = torch.randn(4), [], 0.0
    for _ in range(length):
        choice = Categorical(logits=policy(state))
        action = choice.sample()
        log_probs.append(choice.log_prob(action))
        score += state[action].item()
        state = torch.roll(state, 1) + 0.1 * torch.randn(4)
    return torch.stack(log_probs), score


for iteration in range(9):
    played = [episode() for _ in range(4)]
    log_probs, score = max(played, key=lambda one: one[1])
    loss = -log_probs.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

print(f"{loss.item():.4f} best score {score:.3f}")
