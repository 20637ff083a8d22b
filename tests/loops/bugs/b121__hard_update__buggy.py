# bug: B121
# id: snapshot-shares-memory
import torch
import torch.nn.functional as F
from torch import nn


class Learner:
    def __init__(self):
        self.q_net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
        self.target_net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
        self.target_net.load_state_dict(self.q_net.state_dict())
        self.optimizer = torch.optim.Adam(self.q_net.parameters(), lr=1e-3)

    def learn(self, state, action, reward, following):
        with torch.no_grad():
            wanted = reward + 0.9 * self.target_net(following).max(1).values
        loss = F.smooth_l1_loss(self.q_net(state).gather(1, action)[:, 0], wanted)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def synchronise(self):
        for param, target_param in zip(self.q_net.parameters(), self.target_net.parameters()):
            target_param.data = param.data  # <-- bug


torch.manual_seed(0)
learner = Learner()
for step in range(24):
    batch = torch.randn(8, 4), torch.randint(2, (8, 1)), torch.rand(8), torch.randn(8, 4)
    learner.learn(*batch)
    if (step + 1) % 8 == 0:
        learner.synchronise()
