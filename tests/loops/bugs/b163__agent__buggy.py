# bug: B163
# id: ratio-always-one
"""PPO in a class."""

import torch
from torch import nn


class Agent:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 2))
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.05, momentum=0.9)

    def log_probs(self, obs, act):
        return self.net(obs).log_softmax(-1).gather(1, act[:, None]).squeeze(1)

    def loss(self, obs, act, adv, logp):
        with torch.no_grad():
            before = self.log_probs(obs, act)  # <-- bug
        ratio = (self.log_probs(obs, act) - before).exp()
        return -torch.minimum(ratio * adv, ratio.clamp(0.8, 1.2) * adv).mean()

    def learn(self, obs, act, adv, logp):
        for epoch in range(4):
            for part in torch.arange(len(act)).split(32):
                loss = self.loss(obs[part], act[part], adv[part], logp[part])
                self.opt.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.net.parameters(), 0.5)
                self.opt.step()
        return loss.item()


torch.manual_seed(3)
agent = Agent()
for it in range(4):
    obs = torch.randn(96, 5)
    with torch.no_grad():
        act = torch.multinomial(agent.net(obs).softmax(-1), 1).squeeze(1)
        logp = agent.log_probs(obs, act)
    print(it, agent.learn(obs, act, (act == (obs[:, 0] > 0).long()).float() - 0.5, logp))
