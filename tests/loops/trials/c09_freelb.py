# truth: clean
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
"""FreeLB: K ascent steps on the embedding; the parameter gradients of all of them are meant to add up."""
emb, head = nn.Embedding(20, 8), nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 3))
model = nn.ModuleDict({"emb": emb, "head": head})
opt = torch.optim.Adamax(model.parameters(), lr=2e-3)
K, alpha = 3, 0.1


def forward(tokens, delta=None):
    e = emb(tokens)
    return head((e if delta is None else e + delta).mean(1))


for it in range(6):
    tokens, y = torch.randint(0, 20, (8, 5)), torch.randint(0, 3, (8,))
    opt.zero_grad()
    clean = F.cross_entropy(forward(tokens), y) * 0.5
    clean.backward()
    delta = torch.zeros(8, 5, 8).uniform_(-0.05, 0.05).requires_grad_()
    for t in range(K):
        adv = F.cross_entropy(forward(tokens, delta), y) * 0.5 / K
        adv.backward()
        g = delta.grad.detach().clone()
        delta = (delta + alpha * g / g.norm().clamp_min(1e-8)).detach().requires_grad_()
    opt.step()
print(clean.item())
