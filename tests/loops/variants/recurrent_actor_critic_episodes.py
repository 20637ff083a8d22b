# variant: recurrent actor-critic: hidden state and running loss go through the whole episode, one backward at its end
import torch
from torch import nn


class RecurrentAgent(nn.Module):
    def __init__(self, obs=3, hidden=12, actions=3):
        super().__init__()
        self.hidden = hidden
        self.cell = nn.GRUCell(obs, hidden)
        self.pi, self.v = nn.Linear(hidden, actions), nn.Linear(hidden, 1)

    def initial(self, n):
        return torch.zeros(n, self.hidden)

    def forward(self, obs, h):
        h = self.cell(obs, h)
        return self.pi(h).log_softmax(-1), self.v(h).squeeze(-1), h


class Corridor:
    def __init__(self, n):
        self.x = torch.randn(n, 3)

    def step(self, action):
        self.x = 0.9 * self.x + 0.3 * nn.functional.one_hot(action, 3) - 0.1
        return self.x, -self.x.pow(2).sum(-1)


def run_episode(agent, n_envs, length, gamma=0.95):
    env, h = Corridor(n_envs), agent.initial(n_envs)
    obs, total = env.x, 0.0
    for t in range(length):
        logp, v, h = agent(obs, h)
        action = torch.multinomial(logp.exp(), 1).squeeze(1)
        obs, reward = env.step(action)
        with torch.no_grad():
            bootstrap = agent(obs, h)[1]
        td_error = reward + gamma * bootstrap - v
        chosen = logp.gather(1, action.unsqueeze(1)).squeeze(1)
        total = total + (0.5 * td_error.pow(2) - chosen * td_error.detach()).mean()
    return total / length


torch.manual_seed(2)
agent = RecurrentAgent()
optimizer = torch.optim.RMSprop(agent.parameters(), lr=2e-3, alpha=0.99)
for episode in range(10):
    loss = run_episode(agent, n_envs=4, length=6)
    loss.backward()
    nn.utils.clip_grad_norm_(agent.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
print(f"{loss.item():.4f}")
