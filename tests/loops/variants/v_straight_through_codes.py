# variant: VQ-VAE the right way round, in two sums; and frozen token embeddings that learned positions are added to
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
encoder, decoder = nn.Linear(6, 4), nn.Linear(4, 6)
codes = nn.Embedding(16, 4)
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters(), *codes.parameters()], lr=1e-2)
for step in range(12):
    x = torch.randn(16, 6)
    z = encoder(x)
    q = codes(torch.cdist(z, codes.weight).argmin(1))
    learnt = F.mse_loss(q, z.detach()) + 0.25 * F.mse_loss(z, q.detach())
    straight = z + (q - z).detach() if step % 2 else z - (z - q).detach()
    loss = F.mse_loss(decoder(straight), x) + learnt
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


class Reader(nn.Module):
    """Its tokens are another model's; where they stand it learns."""

    def __init__(self):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(20, 8), nn.Embedding(5, 8)
        self.tokens.requires_grad_(False)
        self.body = nn.Linear(8, 20)

    def forward(self, tokens):
        at = self.positions(torch.arange(tokens.shape[1]))
        return self.body(self.tokens(tokens) + at), at


reader = Reader()
optimizer = torch.optim.Adam([p for p in reader.parameters() if p.requires_grad], lr=1e-2)
for step in range(12):
    tokens = torch.randint(20, (4, 5))
    said, at = reader(tokens)
    even = F.mse_loss(at[1:], at[:-1].detach())
    optimizer.zero_grad()
    (F.cross_entropy(said.flatten(0, 1), tokens.roll(-1, 1).flatten()) + 0.1 * even).backward()
    optimizer.step()
