# bug: B267
import torch
import torch.nn.functional as F
from torch import nn


class Towers(nn.Module):
    def __init__(self):
        super().__init__()
        self.image, self.text = nn.Linear(12, 8), nn.Linear(6, 8)
        self.scale = nn.Parameter(torch.tensor(2.0))

    def forward(self, images, texts):
        images = F.normalize(self.image(images), dim=-1)
        texts = F.normalize(self.text(texts), dim=-1)
        return self.scale.exp() * images @ texts.t()


class Matching:
    def __init__(self, model, lr):
        self.model = model
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=lr)

    def training_step(self, images, texts):
        logits = self.model(images, texts)
        labels = torch.arange(len(images))
        self.loss_i2t = F.cross_entropy(logits, labels)
        self.loss_t2i = F.cross_entropy(logits.t(), labels)
        return 0.5 * (self.loss_i2t + self.loss_t2i)

    def fit(self, batches):
        for images, texts in batches:
            loss = self.training_step(images, texts)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        print(f"{loss.item():.4f}")


torch.manual_seed(3)
Matching(Towers(), 1e-2).fit([(torch.randn(8, 12), torch.randn(8, 6)) for _ in range(12)])
