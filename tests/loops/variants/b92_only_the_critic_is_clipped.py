# variant: DDPG that clips its critic alone: in front of both steps, between the actor's backward and the actor's step
import copy

import torch
import torch.nn.functional as F
from torch import nn


class DDPG:
    def __init__(self, obs=3, act=1):
        self.actor = nn.Sequential(nn.Linear(obs, 16), nn.ReLU(), nn.Linear(16, act), nn.Tanh())
        self.critic = nn.Sequential(nn.Linear(obs + act, 16), nn.ReLU(), nn.Linear(16, 1))
        self.targets = copy.deepcopy(nn.ModuleList([self.actor, self.critic])).requires_grad_(False)
        self.opts = [torch.optim.Adam(m.parameters(), lr=1e-3) for m in (self.actor, self.critic)]

    def losses(self, obs, action, reward, after):
        target_actor, target_critic = self.targets
        goal = reward + 0.95 * target_critic(torch.cat([after, target_actor(after)], 1))
        yield self.critic, F.smooth_l1_loss(self.critic(torch.cat([obs, action], 1)), goal)
        yield self.actor, -self.critic(torch.cat([obs, self.actor(obs)], 1)).mean()

    def update(self, batch):
        for opt in self.opts:
            opt.zero_grad()
        for model, loss in self.losses(*batch):
            loss.backward(inputs=list(model.parameters()))
        nn.utils.clip_grad_norm_(self.critic.parameters(), 0.05)
        for opt in self.opts:
            opt.step()
        with torch.no_grad():
            for target, online in zip(self.targets, (self.actor, self.critic)):
                for t, p in zip(target.parameters(), online.parameters()):
                    t.lerp_(p, 0.01)


torch.manual_seed(0)
agent = DDPG()
for _ in range(8):
    agent.update((torch.randn(16, 3), torch.rand(16, 1) * 2 - 1, torch.randn(16, 1), torch.randn(16, 3)))
