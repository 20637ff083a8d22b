# bug: B226
import torch
import torch.nn.functional as F
from torch import nn

# Super-resolution with a perceptual term: features of a fixed network, of the prediction and of the truth.


class Perceptual(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)).requires_grad_(False)

    def forward(self, made, clean):
        ours = self.features(made)
        with torch.no_grad():
            theirs = self.features(clean)
        return F.mse_loss(ours, theirs)


torch.manual_seed(3)
model = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 1, 3, padding=1))
pixels, perceptual = nn.MSELoss(), Perceptual()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(16):
    clean = torch.rand(4, 1, 12, 12)
    made = model(clean + 0.1 * torch.randn_like(clean))
    loss = pixels(made, clean) + 0.1 * perceptual(made, clean)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.4f}")
