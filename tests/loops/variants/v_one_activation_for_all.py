# variant: models share one activation, which a method of one of them calls by itself
import torch
from torch import nn

torch.manual_seed(0)
ACT = {"elu": nn.ELU()}


class Dynamics(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = ACT["elu"]
        self.enter, self.leave = nn.Linear(6, 16), nn.Linear(16, 4)

    def imagine(self, state, action):
        return self.leave(self.act(self.enter(torch.cat([state, action], 1))))


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = nn.Sequential(nn.Linear(4, 16), ACT["elu"], nn.Linear(16, 16), ACT["elu"], nn.Linear(16, 1))

    def forward(self, state):
        return self.model(state)


dynamics, actor, value = Dynamics(), nn.Linear(4, 2), Head()
model_optimizer = torch.optim.Adam(dynamics.parameters(), lr=1e-3)
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
value_optimizer = torch.optim.Adam(value.parameters(), lr=1e-3)

for update in range(24):
    state, action, after = torch.randn(12, 4), torch.randn(12, 2), torch.randn(12, 4)
    model_loss = nn.functional.mse_loss(dynamics.imagine(state, action), after)
    model_optimizer.zero_grad()
    model_loss.backward()
    model_optimizer.step()

    for one in (dynamics, value):
        one.requires_grad_(False)
    actor_loss = -value(dynamics.imagine(state, actor(state).tanh())).mean()
    for one in (dynamics, value):
        one.requires_grad_(True)
    actor_optimizer.zero_grad()
    actor_loss.backward()
    actor_optimizer.step()

    with torch.no_grad():
        returns = after.sum(1, keepdim=True)
    value_loss = nn.functional.mse_loss(value(after), returns)
    value_optimizer.zero_grad()
    value_loss.backward()
    value_optimizer.step()
