# variant: a VQ-VAE with both stop-gradients, and one whose codebook and encoder share one term with no constant
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(7)
for shared in (False, True):
    encoder, decoder, codes = nn.Linear(6, 4), nn.Linear(4, 6), nn.Embedding(9, 4)
    optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters(), *codes.parameters()], lr=1e-3)
    for x in torch.randn(8, 24, 6):
        z = encoder(x)
        q = codes(torch.cdist(z, codes.weight).argmin(1))
        extra = F.mse_loss(q, z) if shared else F.mse_loss(q, z.detach()) + 0.25 * F.mse_loss(z, q.detach())
        loss = F.mse_loss(decoder(z + (q - z).detach()), x) + extra
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
