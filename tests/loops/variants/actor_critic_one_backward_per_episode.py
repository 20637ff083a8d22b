# variant: actor-critic: a forward per step of the episode, the losses summed, one backward per episode
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(4, 24)
        self.action_head = nn.Linear(24, 2)
        self.value_head = nn.Linear(24, 1)
        self.saved_actions = []
        self.rewards = []

    def forward(self, x):
        x = F.relu(self.affine1(x))
        return F.softmax(self.action_head(x), dim=-1), self.value_head(x)


torch.manual_seed(543)
model = Policy()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-2)
eps = 1e-8


def select_action(state):
    probs, state_value = model(state)
    m = Categorical(probs)
    action = m.sample()
    model.saved_actions.append((m.log_prob(action), state_value))
    return action.item()


def finish_episode():
    R, returns = 0, []
    for r in model.rewards[::-1]:
        R = r + 0.99 * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + eps)
    policy_losses, value_losses = [], []
    for (log_prob, value), R in zip(model.saved_actions, returns):
        policy_losses.append(-log_prob * (R - value.item()))
        value_losses.append(F.smooth_l1_loss(value, torch.tensor([R])))
    optimizer.zero_grad()
    loss = torch.stack(policy_losses).sum() + torch.stack(value_losses).sum()
    loss.backward()
    optimizer.step()
    del model.rewards[:]
    del model.saved_actions[:]
    return loss.item()


for i_episode in range(10):
    state = torch.randn(4)
    for t in range(5 + i_episode):
        action = select_action(state)
        state = 0.9 * state + 0.2 * (2 * action - 1)
        model.rewards.append(-state.abs().mean().item())
    loss = finish_episode()
print(f"{loss:.4f}")
