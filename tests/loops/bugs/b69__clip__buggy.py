# bug: B69
# id: contrastive-loss-accumulated
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class CLIP(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.visual = nn.Sequential(nn.Flatten(), nn.Linear(16, 20), nn.GELU(), nn.Linear(20, dim))
        self.tokens = nn.Embedding(30, 12)
        self.text = nn.Linear(12, dim, bias=False)
        self.logit_scale = nn.Parameter(torch.tensor(math.log(1 / 0.07)))

    def forward(self, images, captions):
        image_features = self.visual(images)
        text_features = self.text(self.tokens(captions).mean(1))
        image_features = image_features / image_features.norm(dim=-1, keepdim=True)
        text_features = text_features / text_features.norm(dim=-1, keepdim=True)
        return image_features, text_features, self.logit_scale.exp()


class Trainer:
    def __init__(self, model, batch_size, accum_freq):
        self.model, self.batch_size, self.accum_freq = model, batch_size, accum_freq
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.1)

    def clip_loss(self, image_features, text_features, scale):
        logits = scale * image_features @ text_features.t()
        labels = torch.arange(logits.shape[0])
        return (nn.functional.cross_entropy(logits, labels) + nn.functional.cross_entropy(logits.t(), labels)) / 2

    def train_one_epoch(self, dataset):
        loader = DataLoader(dataset, batch_size=self.batch_size // self.accum_freq, shuffle=True)
        for i, (images, captions) in enumerate(loader):
            loss = self.clip_loss(*self.model(images, captions))  # <-- bug
            (loss / self.accum_freq).backward()  # <-- bug
            if (i + 1) % self.accum_freq == 0:
                self.optimizer.step()
                self.optimizer.zero_grad()
        print(f"loss {loss.item():.4f}, scale {self.model.logit_scale.exp().item():.2f}")


torch.manual_seed(1)
pairs = TensorDataset(torch.randn(96, 1, 4, 4), torch.randint(0, 30, (96, 5)))
trainer = Trainer(CLIP(), batch_size=24, accum_freq=3)
for _ in range(3):
    trainer.train_one_epoch(pairs)
