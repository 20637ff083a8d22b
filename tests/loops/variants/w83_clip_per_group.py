# variant: a clipping bound per parameter group, each clipped once before the step
# window: 3
import torch
from torch import nn

torch.manual_seed(0)
encoder, decoder = nn.LSTM(4, 8, batch_first=True), nn.Linear(8, 1)
optimizer = torch.optim.Adam(
    [{"params": encoder.parameters(), "max_norm": 0.25}, {"params": decoder.parameters(), "max_norm": 1.0}], lr=1e-2
)
for step in range(4):
    optimizer.zero_grad()
    for _ in range(3):
        x = torch.randn(4, 5, 4)
        out, _state = encoder(x)
        loss = nn.functional.mse_loss(decoder(out[:, -1]), x.sum((1, 2))[:, None]) / 3
        loss.backward()
    for group in optimizer.param_groups:
        torch.nn.utils.clip_grad_norm_(group["params"], group["max_norm"])
    optimizer.step()

print(f"{loss.item():.4f}")
