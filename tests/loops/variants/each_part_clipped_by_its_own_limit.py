# variant: two recurrent parts are clipped one after the other, by limits of their own, one of them by value, too.
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
encoder, decoder = nn.GRU(5, 8, batch_first=True), nn.GRU(5, 8, batch_first=True)
head = nn.Linear(8, 5)
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters(), *head.parameters()], lr=1e-2)
for _ in range(10):
    x = torch.randn(6, 7, 5)
    hidden, _ = decoder(x.flip(1)[:, :-1], encoder(x)[1])
    loss = F.mse_loss(head(hidden), x.flip(1)[:, 1:])
    optimizer.zero_grad()
    loss.backward()
    for part, limit in ((encoder, 0.1), (decoder, 0.2), (head, 0.1)):
        nn.utils.clip_grad_norm_(part.parameters(), limit)
    nn.utils.clip_grad_value_(encoder.parameters(), 0.05)
    optimizer.step()
print(f"{loss.item():.4f}")
