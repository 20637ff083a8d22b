# variant: two critics, each with an optimizer of its own made in a loop: nobody is left out
import torch
from torch import nn


class TwinCritics:
    def __init__(self, n_in, count=2):
        self.nets = [nn.Sequential(nn.Linear(n_in, 16), nn.ReLU(), nn.Linear(16, 1)) for _ in range(count)]
        self.optimizers = [torch.optim.Adam(net.parameters(), lr=1e-3) for net in self.nets]

    def update(self, x, target):
        total = sum(nn.functional.mse_loss(net(x), target) for net in self.nets)
        for optimizer in self.optimizers:
            optimizer.zero_grad()
        total.backward()
        for optimizer in self.optimizers:
            optimizer.step()
        return total.item()

    def value(self, x):
        return torch.min(*(net(x) for net in self.nets))


torch.manual_seed(5)
critics = TwinCritics(4)
actor = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1), nn.Tanh())
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
for step in range(10):
    obs, act = torch.randn(12, 3), torch.rand(12, 1) * 2 - 1
    critic_loss = critics.update(torch.cat([obs, act], 1), -act.square() + obs[:, :1])
    actor_loss = -critics.value(torch.cat([obs, actor(obs)], 1)).mean()
    actor_optimizer.zero_grad()
    actor_loss.backward()
    actor_optimizer.step()
print(f"{critic_loss:.4f} {actor_loss.item():.4f}")
