# bug: B233
# id: gradients-nobody-uses
import torch
from torch import nn

torch.manual_seed(3)


class Network(nn.Module):
    def __init__(self, outputs):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(6, 16), nn.ReLU())
        self.head = nn.Linear(16, outputs)

    def forward(self, x, detach=False):
        hidden = self.encoder(x)
        return self.head(hidden.detach() if detach else hidden)


actor, critic = Network(2), Network(3)
actor.encoder = critic.encoder  # one encoder, which the critic trains
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_optimizer = torch.optim.Adam(critic.head.parameters(), lr=1e-3)  # <-- bug

for step in range(16):
    state = torch.randn(24, 6)
    critic_optimizer.zero_grad()
    nn.functional.mse_loss(critic(state), state[:, :3].abs()).backward()
    critic_optimizer.step()

    actor_optimizer.zero_grad()
    nn.functional.cross_entropy(actor(state, detach=True), (state[:, 0] > 0).long()).backward()
    actor_optimizer.step()
