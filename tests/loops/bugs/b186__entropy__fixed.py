# bug: B186
import torch
from torch import nn


class Trainer:
    def __init__(self):
        self.policy = nn.Linear(6, 3)
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=1e-2)

    def update(self, obs, act, adv):
        dist = torch.distributions.Categorical(logits=self.policy(obs))
        entropy = dist.entropy().mean()
        gain = -(dist.log_prob(act) * adv).mean()
        self.loss = gain - 0.01 * entropy
        self.optimizer.zero_grad()
        self.loss.backward()
        self.optimizer.step()
        return self.loss.item()


torch.manual_seed(0)
trainer = Trainer()
for _ in range(10):
    print(trainer.update(torch.randn(32, 6), torch.randint(3, (32,)), torch.randn(32)))
