# bug: B176
import torch
from torch import nn


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 16), nn.Tanh())
        self.policy, self.value = nn.Linear(16, 3), nn.Linear(16, 1)

    def forward(self, x):
        h = self.body(x)
        return self.policy(h), self.value(h)


def share_gradients(worker, shared):
    for mine, its in zip(worker.parameters(), shared.parameters()):
        if its.grad is not None:
            return
        its._grad = mine.grad


torch.manual_seed(0)
shared, worker = ActorCritic(), ActorCritic()
optimizer = torch.optim.Adam(shared.parameters(), lr=3e-3)
for _ in range(12):
    worker.load_state_dict(shared.state_dict())
    values, log_probs, rewards = [], [], []
    for _ in range(5):
        state = torch.randn(1, 4)
        logits, value = worker(state)
        action = logits.softmax(1).multinomial(1)
        log_probs.append(logits.log_softmax(1).gather(1, action))
        values.append(value)
        rewards.append((action == state[:, :3].argmax(1, keepdim=True)).float())
    policy_loss, value_loss, ret = 0, 0, torch.zeros(1, 1)
    for t in reversed(range(5)):
        ret = rewards[t] + 0.9 * ret
        advantage = ret - values[t]
        value_loss = value_loss + 0.5 * advantage.pow(2)
        policy_loss = policy_loss - log_probs[t] * advantage.detach()
    optimizer.zero_grad(set_to_none=False)
    (policy_loss + value_loss).sum().backward()
    share_gradients(worker, shared)
    optimizer.step()
