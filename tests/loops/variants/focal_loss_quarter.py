# variant: focal loss with alpha = 0.25: a mean loss times a quarter, a step for every batch
import torch
from torch import nn


class FocalLoss(nn.Module):
    def __init__(self, alpha: float = 0.25, gamma: float = 2.0) -> None:
        super().__init__()
        self.alpha, self.gamma = alpha, gamma

    def forward(self, logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        ce = nn.functional.binary_cross_entropy_with_logits(logits, target, reduction="none")
        pt = torch.exp(-ce)
        return self.alpha * ((1 - pt) ** self.gamma * ce).mean()


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
criterion = FocalLoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
for step in range(12):
    x = torch.randn(16, 8)
    y = (x[:, :1] > 1).float()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()

print(f"{loss.item():.4f}")
