# variant: one backward for two players, the maximiser's gradients negated in place before its step
import torch
from torch import nn

torch.manual_seed(0)
classifier, adversary = nn.Linear(6, 1), nn.Linear(1, 1)
opt_min = torch.optim.SGD(classifier.parameters(), lr=0.05)
opt_max = torch.optim.SGD(adversary.parameters(), lr=0.05)
opt_max2 = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=0.1, maximize=True)
multiplier = opt_max2.param_groups[0]["params"][0]
for step in range(8):
    x, z = torch.randn(16, 6), torch.randn(16, 1)
    score = classifier(x)
    value = (score - x[:, :1]).pow(2).mean() - (adversary(score) - z).pow(2).mean() + multiplier.exp() * 0.01
    opt_min.zero_grad()
    opt_max.zero_grad()
    opt_max2.zero_grad()
    value.backward()
    for p in adversary.parameters():
        p.grad.neg_()
    opt_min.step()
    opt_max.step()
    opt_max2.step()

print(f"{value.item():.4f}")
