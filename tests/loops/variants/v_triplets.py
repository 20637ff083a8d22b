# variant: contrastive losses of two networks, or of one twice: an anchor meets what matches and what does not
import torch
import torch.nn.functional as F
from torch import nn


def net(inputs, dropout=0.0):
    return nn.Sequential(nn.Linear(inputs, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(dropout), nn.Linear(16, 4))


class TwoTowers(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone, self.unfrozen = nn.Linear(8, 16).requires_grad_(False), nn.Linear(16, 4)
        self.users = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 4))

    def forward(self, item, user):
        return self.unfrozen(torch.tanh(self.backbone(item))), self.users(user)


def hinge(one, other, margin=0.5):
    one, other = F.normalize(one, dim=1), F.normalize(other, dim=1)
    matching, not_matching = (one * other).sum(1), (one * other.roll(1, 0)).sum(1)
    return (margin + not_matching - matching).clamp(min=0).mean()


def cosines(one, other):
    matching, not_matching = F.cosine_similarity(one, other), F.cosine_similarity(one, other.flip(0))
    return (1 - matching).mean() + (not_matching - 0.2).clamp(min=0).mean()


def distances(one, other):
    matching, not_matching = (one - other).pow(2).sum(1), (one - other.roll(1, 0)).pow(2).sum(1)
    return matching.mean() + (1.0 - not_matching).clamp(min=0).mean()


def triplets(one, other):
    matching, not_matching = (one - other).pow(2).sum(1), (one - other.roll(1, 0)).pow(2).sum(1)
    return (0.2 + matching - not_matching).clamp(min=0).mean()


def train(models, embed, loss_of, steps=4):
    optimizer = torch.optim.Adam([p for m in models for p in m.parameters() if p.requires_grad], lr=1e-3)
    for _ in range(steps):
        z = torch.randn(32, 4)
        loss = loss_of(*embed(torch.cat([z, z], 1), torch.cat([z, z[:, :2]], 1)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


torch.manual_seed(0)
for loss_of in (hinge, cosines, distances, triplets):
    image, text, encoder, both = net(8), net(6, dropout=0.1), net(8), TwoTowers()
    train([image, text], lambda a, b: (image(a), text(b)), loss_of)
    image.eval()  # keeps its BatchNorm as it is, and is fine-tuned
    train([image, text], lambda a, b: (image(a), text(b)), loss_of)
    train([encoder], lambda a, b: (encoder(a), encoder(a + 0.1 * torch.randn_like(a))), loss_of)
    train([both], both, loss_of)
