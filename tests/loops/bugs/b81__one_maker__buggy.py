# bug: B81
# id: gradients-nobody-uses
import torch
from torch import nn


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2))
        self.score = nn.Linear(16, 1)

    def forward(self, x):
        return self.score(self.features(x))


def make_optimizer(module, lr=2e-3):
    decayed = [p for p in module.parameters() if p.dim() > 1]
    others = [p for p in module.parameters() if p.dim() <= 1]
    groups = [{"params": decayed, "weight_decay": 1e-4}, {"params": others, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=lr, betas=(0.5, 0.999))
    return optimizer


def main():
    torch.manual_seed(0)
    generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
    critic = Critic()
    opt_c = make_optimizer(critic.features, lr=4e-3)  # <-- bug
    opt_g = make_optimizer(generator)
    loss_fn = nn.BCEWithLogitsLoss()
    for _ in range(10):
        real = torch.randn(16, 2) * 0.5 + 2
        fake = generator(torch.randn(16, 4))
        opt_c.zero_grad()
        loss_c = loss_fn(critic(real), torch.ones(16, 1)) + loss_fn(critic(fake.detach()), torch.zeros(16, 1))
        loss_c.backward()
        opt_c.step()

        opt_g.zero_grad()
        loss_g = loss_fn(critic(fake), torch.ones(16, 1))
        loss_g.backward()
        opt_g.step()
    print(f"critic {loss_c.item():.4f}, generator {loss_g.item():.4f}")


main()
