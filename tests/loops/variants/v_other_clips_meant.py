# variant: before a step that it does not clip, the norm of the other model is logged; and only the encoder is clipped,
# which is frozen in this run
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
G = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
D = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
og, od = torch.optim.Adam(G.parameters(), 1e-3), torch.optim.Adam(D.parameters(), 1e-3)
norms = []
for step in range(20):
    fake = G(torch.randn(16, 4))
    loss = F.softplus(-D(torch.randn(16, 2) + 2)).mean() + F.softplus(D(fake.detach())).mean()
    od.zero_grad()
    loss.backward()
    if step:
        norms.append(nn.utils.clip_grad_norm_(G.parameters(), 1e9).item())  # of its last step
    od.step()
    loss = F.softplus(-D(fake)).mean()
    og.zero_grad()
    loss.backward()
    og.step()

encoder, head = nn.GRU(4, 8, batch_first=True), nn.Linear(8, 1)
encoder.requires_grad_(False)
optimizer = torch.optim.Adam(head.parameters(), 1e-2)
for _ in range(10):
    x = torch.randn(16, 5, 4)
    loss = F.mse_loss(head(encoder(x)[0][:, -1]), x.sum((1, 2)).unsqueeze(1))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(encoder.parameters(), 1.0)
    optimizer.step()
