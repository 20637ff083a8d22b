# bug: B227
import torch
import torch.nn.functional as F
from torch import nn


class ExponentialMovingAverage:
    """Weights for validation: shadow -= (1 - decay) * (shadow - weight), after every step."""

    def __init__(self, model, decay):
        self.decay = decay
        self.shadow = {}
        for name, param in model.named_parameters():
            if param.requires_grad:
                self.shadow[name] = param.data.clone()

    def __call__(self, name, x):
        self.shadow[name] -= (1.0 - self.decay) * (self.shadow[name] - x)

    def update(self, model):
        for name, param in model.named_parameters():
            if name in self.shadow:
                self(name, param.data)


class SegmentationTrainer:
    def __init__(self, classes=3, lr=1e-2):
        self.model = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, classes, 1))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)
        self.ema = ExponentialMovingAverage(self.model, 0.9)

    def train_step(self, images, masks):
        loss = F.cross_entropy(self.model(images), masks)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.ema.update(self.model)
        return loss.item()

    @torch.no_grad()
    def validate(self, images, masks):
        logits = torch.func.functional_call(self.model, self.ema.shadow, (images,))
        return (logits.argmax(1) == masks).float().mean().item()


torch.manual_seed(0)
trainer = SegmentationTrainer()
for step in range(20):
    images = torch.randn(4, 1, 8, 8)
    masks = torch.bucketize(images[:, 0], torch.tensor([-0.5, 0.5]))
    trainer.train_step(images, masks)
print(f"{trainer.validate(images, masks):.3f}")
