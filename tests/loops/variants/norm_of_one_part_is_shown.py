# variant: the norm of one recurrent part is shown, with a limit that no gradient reaches; nothing is clipped.
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
encoder, decoder, head = nn.GRU(4, 6, batch_first=True), nn.GRU(4, 6, batch_first=True), nn.Linear(6, 4)
optimizer = torch.optim.SGD([*encoder.parameters(), *decoder.parameters(), *head.parameters()], lr=0.1)
for _ in range(8):
    x = torch.randn(6, 5, 4)
    hidden, _ = decoder(x, encoder(x.flip(1))[1])
    loss = F.mse_loss(head(hidden), x)
    optimizer.zero_grad()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(decoder.parameters(), 100.0)
    optimizer.step()
    print(f"{loss.item():.4f} {norm:.3f}")
