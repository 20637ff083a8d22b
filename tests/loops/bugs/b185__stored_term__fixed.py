# bug: B185
import torch
import torch.nn.functional as F
from torch import nn


class Agent(nn.Module):
    def __init__(self, beta=0.05):
        super().__init__()
        self.encoder, self.head = nn.Linear(8, 4), nn.Linear(4, 3)
        self.beta = beta
        self.optimizer = torch.optim.Adam(self.parameters(), lr=1e-2)

    def learn(self, x, y):
        code = self.encoder(x)
        self.task = F.cross_entropy(self.head(torch.tanh(code)), y)
        self.sparsity = code.abs().mean()
        self.loss = self.task + self.beta * self.sparsity
        self.optimizer.zero_grad()
        self.loss.backward()
        self.optimizer.step()


torch.manual_seed(0)
agent = Agent()
for _ in range(10):
    x = torch.randn(16, 8)
    agent.learn(x, x[:, :3].argmax(1))
print(agent.loss.item())
