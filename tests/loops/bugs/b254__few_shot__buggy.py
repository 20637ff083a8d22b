# bug: B254
# id: gradients-nobody-uses
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
encoder = nn.Sequential(nn.Linear(8, 16), nn.ReLU())
relation = nn.Sequential(nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 1), nn.Sigmoid())
encoder_optim = torch.optim.Adam(encoder.parameters(), lr=1e-3)
relation_optim = torch.optim.Adam(encoder.parameters(), lr=1e-3)  # <-- bug
for episode in range(20):
    support, query = torch.randn(5, 8), torch.randn(10, 8)
    labels = torch.randint(0, 5, (10,))
    known, asked = encoder(support), encoder(query)
    pairs = torch.cat([known.repeat(10, 1), asked.repeat_interleave(5, 0)], 1)
    loss = F.mse_loss(relation(pairs).view(10, 5), F.one_hot(labels, 5).float())
    encoder.zero_grad()
    relation.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(encoder.parameters(), 0.5)
    nn.utils.clip_grad_norm_(relation.parameters(), 0.5)
    encoder_optim.step()
    relation_optim.step()
print(f"{loss.item():.4f}")
