# variant: MoCo: key encoder moved through p.data, queue of old keys, only the query encoder trained
import torch
from torch import nn

torch.manual_seed(0)
encoder_q, encoder_k = nn.Linear(6, 4), nn.Linear(6, 4)
for param_q, param_k in zip(encoder_q.parameters(), encoder_k.parameters()):
    param_k.data.copy_(param_q.data)
    param_k.requires_grad = False
queue = nn.functional.normalize(torch.randn(4, 16), dim=0)
optimizer = torch.optim.SGD(encoder_q.parameters(), lr=0.05, momentum=0.9)
for step in range(5):
    x = torch.randn(8, 6)
    q = nn.functional.normalize(encoder_q(x + 0.1 * torch.randn_like(x)), dim=1)
    with torch.no_grad():
        for param_q, param_k in zip(encoder_q.parameters(), encoder_k.parameters()):
            param_k.data = param_k.data * 0.99 + param_q.data * 0.01
        k = nn.functional.normalize(encoder_k(x + 0.1 * torch.randn_like(x)), dim=1)
    logits = torch.cat([(q * k).sum(1, keepdim=True), q @ queue.clone().detach()], dim=1) / 0.07
    loss = nn.functional.cross_entropy(logits, torch.zeros(8, dtype=torch.long))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    queue = torch.cat([queue[:, 8:], k.T], dim=1)

print(f"{loss.item():.4f}")
