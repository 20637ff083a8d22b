# variant: REINFORCE: the log-probabilities of an episode kept in a list, one backward per episode
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(543)
policy = nn.Sequential(nn.Linear(4, 16), nn.Dropout(p=0.2), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
saved_log_probs: list[torch.Tensor] = []
rewards: list[float] = []


def finish_episode() -> float:
    R, returns = 0.0, []
    for r in rewards[::-1]:
        R = r + 0.99 * R
        returns.insert(0, R)
    centred = torch.tensor(returns)
    centred = (centred - centred.mean()) / (centred.std() + 1e-6)
    policy_loss = torch.stack([-lp * ret for lp, ret in zip(saved_log_probs, centred)])
    optimizer.zero_grad()
    loss = policy_loss.sum()
    loss.backward()
    optimizer.step()
    del rewards[:]
    del saved_log_probs[:]
    return loss.item()


for i_episode in range(4):
    state = torch.randn(4)
    for t in range(6 + i_episode):
        m = Categorical(logits=policy(state))
        action = m.sample()
        saved_log_probs.append(m.log_prob(action))
        rewards.append(float(action) - 0.5)
        state = torch.randn(4)
    last = finish_episode()

print(f"{last:.4f}")
