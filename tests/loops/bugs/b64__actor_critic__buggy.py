# bug: B64
# id: step-between-forward-and-backward
# raises: RuntimeError
import torch
from torch import nn


class ActorCritic:
    def __init__(self):
        self.body = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 8), nn.Tanh())
        self.policy = nn.Linear(8, 2)
        self.value = nn.Linear(8, 1)
        self.policy_opt = torch.optim.SGD([*self.body.parameters(), *self.policy.parameters()], lr=0.05)
        self.value_opt = torch.optim.SGD(self.value.parameters(), lr=0.05)

    def update(self, states, actions, returns):
        h = self.body(states)
        values = self.value(h).squeeze(1)
        log_probs = self.policy(h).log_softmax(-1).gather(1, actions[:, None]).squeeze(1)
        value_loss = (returns - values).square().mean()
        policy_loss = -(log_probs * (returns - values.detach())).mean()

        self.policy_opt.zero_grad()
        self.value_opt.zero_grad()
        policy_loss.backward(retain_graph=True)
        self.policy_opt.step()  # <-- bug
        value_loss.backward()  # <-- bug
        self.value_opt.step()
        return value_loss.item()


torch.manual_seed(0)
agent = ActorCritic()
for _ in range(6):
    value_loss = agent.update(torch.randn(10, 4), torch.randint(0, 2, (10,)), torch.randn(10))
print(f"{value_loss:.4f}")
