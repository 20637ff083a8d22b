# bug: B232
# id: stepped-at-rate-zero
import torch
import torch.nn.functional as F
from torch import nn


class ActorCritic:
    """Policy and value with an optimizer each; both rates rise from 0 within the first updates."""

    def __init__(self, obs_dim=4, n_actions=3, warmup=5):
        self.policy = nn.Sequential(nn.Linear(obs_dim, 16), nn.Tanh(), nn.Linear(16, n_actions))
        self.value = nn.Sequential(nn.Linear(obs_dim, 16), nn.Tanh(), nn.Linear(16, 1))
        self.optimizers = [
            torch.optim.Adam(self.policy.parameters(), lr=3e-3),
            torch.optim.Adam(self.value.parameters(), lr=1e-2),
        ]
        self.schedulers = [
            torch.optim.lr_scheduler.LambdaLR(opt, lambda update: min(1.0, update / warmup)) for opt in self.optimizers
        ]

    def losses(self, obs, actions, returns):
        values = self.value(obs).squeeze(1)
        advantage = (returns - values).detach()
        log_prob = F.log_softmax(self.policy(obs), dim=1).gather(1, actions.unsqueeze(1)).squeeze(1)
        return -(log_prob * advantage).mean(), F.mse_loss(values, returns)

    def update(self, obs, actions, returns):
        for i, loss in enumerate(self.losses(obs, actions, returns)):
            self.optimizers[i].zero_grad()
            loss.backward()
            self.optimizers[i].step()  # <-- bug
            self.schedulers[0].step()  # <-- bug


torch.manual_seed(0)
agent = ActorCritic()
for _ in range(20):
    obs = torch.randn(32, 4)
    actions = torch.randint(3, (32,))
    agent.update(obs, actions, obs.sum(1) * (actions - 1))
