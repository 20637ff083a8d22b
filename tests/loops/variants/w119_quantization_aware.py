# variant: quantization-aware training by a straight-through estimator: x + (q(x) - x).detach()
import torch
from torch import nn


class QuantLinear(nn.Linear):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scale = self.weight.detach().abs().max() / 7
        quantized = (self.weight / scale).round() * scale
        weight = self.weight + (quantized - self.weight).detach()
        return nn.functional.linear(x, weight, self.bias)


torch.manual_seed(0)
model = nn.Sequential(QuantLinear(6, 16), nn.ReLU(), QuantLinear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(6):
    x = torch.randn(8, 6)
    loss = (model(x) - x[:, :1]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

print(f"{loss.item():.4f}")
