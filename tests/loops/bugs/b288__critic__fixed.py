# bug: B288
import torch
from torch import nn

torch.manual_seed(1)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 1))

    def forward(self, states):
        return self.body(states).squeeze(-1)


class Learner:
    def __init__(self):
        self.actor = nn.Linear(6, 3)
        self.critic = Critic()
        self.actor_opt = torch.optim.SGD(self.actor.parameters(), lr=0.05)
        self.critic_opt = torch.optim.SGD(self.critic.parameters(), lr=0.05)

    def update(self, batches):
        for states, actions, returns in batches:
            advantage = returns - self.critic(states).detach()
            logp = torch.distributions.Categorical(logits=self.actor(states)).log_prob(actions)
            actor_loss = -(logp * advantage).mean()
            self.actor_opt.zero_grad()
            actor_loss.backward()
            self.actor_opt.step()

            critic_loss = nn.functional.mse_loss(self.critic(states), returns)
            self.critic_opt.zero_grad()
            critic_loss.backward()
            self.critic_opt.step()
        return critic_loss.item()


learner = Learner()
for iteration in range(8):
    states = torch.randn(32, 6)
    actions = torch.randint(0, 3, (32,))
    returns = states.sum(-1) + 0.1 * torch.randn(32)
    batches = list(zip(states.split(8), actions.split(8), returns.split(8)))
    print(iteration, learner.update(batches))
