# bug: B24
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class WGAN:
    def __init__(self, generator, critic):
        self.generator, self.critic = generator, critic
        self.opt_g = torch.optim.RMSprop(generator.parameters(), lr=1e-3)
        self.opt_c = torch.optim.RMSprop(critic.parameters(), lr=1e-3)

    def critic_loss(self, real, fake):
        return self.critic(fake.detach()).mean() - self.critic(real).mean()

    def train_step(self, real):
        fake = self.generator(torch.randn(len(real), 3))
        self.opt_c.zero_grad()
        c_loss = self.critic_loss(real, fake)
        c_loss.backward()
        self.opt_c.step()

        g_loss = -self.critic(fake).mean()
        g_loss.backward()
        self.opt_g.step()
        self.opt_g.zero_grad()
        return c_loss.item(), g_loss.item()


torch.manual_seed(6)
gan = WGAN(
    nn.Sequential(nn.Linear(3, 12), nn.ReLU(), nn.Linear(12, 5)),
    nn.Sequential(nn.Linear(5, 12), nn.ReLU(), nn.Linear(12, 1)),
)
for (real,) in DataLoader(TensorDataset(torch.randn(48, 5)), batch_size=8):
    losses = gan.train_step(real)
print(losses)
