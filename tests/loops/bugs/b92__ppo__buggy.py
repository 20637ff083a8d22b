# bug: B92
# id: clipped-another-model
import torch
from torch import nn
from torch.distributions import Categorical
from torch.nn.utils import clip_grad_norm_


def mlp(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 16), nn.Tanh(), nn.Linear(16, outputs))


class PPO:
    def __init__(self, obs_dim, n_actions, lr=3e-3, eps=0.2, max_grad_norm=0.1):
        self.actor, self.critic = mlp(obs_dim, n_actions), mlp(obs_dim, 1)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=lr, eps=1e-5)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=lr, eps=1e-5)
        self.eps, self.max_grad_norm = eps, max_grad_norm

    @torch.no_grad()
    def collect(self, n):
        obs = torch.randn(n, 4)
        dist = Categorical(logits=self.actor(obs))
        actions = dist.sample()
        returns = (actions == obs[:, :3].argmax(-1)).float() + 0.1 * torch.randn(n)
        return obs, actions, dist.log_prob(actions), returns, returns - self.critic(obs).squeeze(-1)

    def update_critic(self, obs, returns):
        value_loss = nn.functional.mse_loss(self.critic(obs).squeeze(-1), returns)
        self.critic_optimizer.zero_grad()
        value_loss.backward()
        clip_grad_norm_(self.critic.parameters(), self.max_grad_norm)
        self.critic_optimizer.step()

    def update_actor(self, obs, actions, old_log_probs, advantages):
        dist = Categorical(logits=self.actor(obs))
        ratio = (dist.log_prob(actions) - old_log_probs).exp()
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        surrogate = torch.min(ratio * advantages, ratio.clamp(1 - self.eps, 1 + self.eps) * advantages)
        policy_loss = -surrogate.mean() - 0.01 * dist.entropy().mean()
        self.actor_optimizer.zero_grad()
        policy_loss.backward()
        clip_grad_norm_(self.critic.parameters(), self.max_grad_norm)  # <-- bug
        self.actor_optimizer.step()

    def learn(self, rollouts, epochs=2, size=32):
        for _ in range(rollouts):
            obs, actions, log_probs, returns, advantages = self.collect(2 * size)
            for _ in range(epochs):
                for rows in torch.randperm(2 * size).split(size):
                    self.update_critic(obs[rows], returns[rows])
                    self.update_actor(obs[rows], actions[rows], log_probs[rows], advantages[rows])


torch.manual_seed(0)
PPO(4, 3).learn(rollouts=3)
