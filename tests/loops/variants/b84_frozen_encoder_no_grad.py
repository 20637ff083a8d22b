# variant: a frozen encoder under no_grad inside forward, requires_grad off and not in the optimizer
import torch
from torch import nn


class Captioner(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 12))
        self.encoder.requires_grad_(False)
        self.bridge = nn.Linear(12, 8)
        self.prefix = nn.Parameter(torch.zeros(8))
        self.decoder = nn.Linear(8, 6)

    def forward(self, x):
        with torch.no_grad():
            features = self.encoder(x)
        return self.decoder(torch.relu(self.bridge(features) + self.prefix))

    def trainable(self):
        return [p for p in self.parameters() if p.requires_grad]


torch.manual_seed(7)
model = Captioner()
optimizer = torch.optim.AdamW(model.trainable(), lr=3e-3)
for step in range(12):
    x, y = torch.randn(8, 5), torch.randint(0, 6, (8,))
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.trainable(), 1.0)
    optimizer.step()
print(f"{loss.item():.4f}")
