# truth: clean
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
"""The embedding's optimizer steps every fourth iteration on everything gathered since; the body steps each time."""
emb, body = nn.Embedding(20, 8), nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
opt_body = torch.optim.SGD(body.parameters(), lr=0.1, nesterov=True, momentum=0.9)
opt_emb = torch.optim.Adam(emb.parameters(), lr=1e-3)
SLOW = 4
for it in range(24):
    t, y = torch.randint(0, 20, (8, 5)), torch.randint(0, 3, (8,))
    loss = F.cross_entropy(body(emb(t).mean(1)), y)
    opt_body.zero_grad()
    loss.backward()
    opt_body.step()
    if (it + 1) % SLOW == 0:
        for p in emb.parameters():
            p.grad /= SLOW
        opt_emb.step()
        opt_emb.zero_grad()
