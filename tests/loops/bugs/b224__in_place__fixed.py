# bug: B224
import torch
import torch.nn.functional as F
from torch import nn


class Robust:
    def __init__(self, net):
        self.net = net
        self.opt = torch.optim.Adam(net.parameters(), lr=1e-3)

    def attack(self, image, label, rounds=4):
        image = image.clone().requires_grad_(True)
        for _ in range(rounds):
            F.cross_entropy(self.net(image), label).backward()
            with torch.no_grad():
                image += 0.05 * image.grad.sign()
                image.grad = None
        return image.detach()

    def fit(self, image, label):
        adversarial = self.attack(image, label)
        self.opt.zero_grad()
        loss = F.cross_entropy(self.net(adversarial), label)
        loss.backward()
        self.opt.step()
        return loss.item()


torch.manual_seed(0)
robust = Robust(nn.Sequential(nn.Flatten(), nn.Linear(36, 20), nn.Tanh(), nn.Linear(20, 2)))
for _ in range(10):
    print(robust.fit(torch.rand(16, 1, 6, 6), torch.randint(2, (16,))))
