# variant: CLIP: (image to text + text to image) / 2, a learned temperature, a step for every batch
import torch
from torch import nn


class TinyClip(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.image, self.text = nn.Linear(10, 8), nn.EmbeddingBag(20, 8)
        self.logit_scale = nn.Parameter(torch.tensor(2.6))

    def forward(self, images: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        i = nn.functional.normalize(self.image(images), dim=-1)
        t = nn.functional.normalize(self.text(tokens), dim=-1)
        return self.logit_scale.exp() * i @ t.T


torch.manual_seed(0)
model = TinyClip()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, betas=(0.9, 0.98))
for step in range(8):
    logits = model(torch.randn(6, 10), torch.randint(0, 20, (6, 4)))
    labels = torch.arange(6)
    loss_i = nn.functional.cross_entropy(logits, labels)
    loss_t = nn.functional.cross_entropy(logits.T, labels)
    loss = (loss_i + loss_t) / 2
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        model.logit_scale.clamp_(max=4.6052)

print(f"{loss.item():.4f}")
