# bug: B155
# id: parameter-not-changed
import torch
import torch.nn.functional as F
from torch import nn


class Similarity(nn.Module):
    """Centroids of speakers, and how far each utterance is from them, by a scale that must stay above zero."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(0.5))
        self.shift = nn.Parameter(torch.tensor(0.0))

    def forward(self, embeddings):
        torch.clamp(self.scale, 1e-6)  # <-- bug
        centroids = embeddings.mean(1)
        distances = F.cosine_similarity(embeddings[:, :, None], centroids[None, None], dim=-1)
        scores = self.scale * distances + self.shift
        wanted = torch.arange(len(embeddings))[:, None].expand(-1, embeddings.shape[1])
        return F.cross_entropy(scores.flatten(0, 1), wanted.flatten())


torch.manual_seed(0)
net, criterion = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 5)), Similarity()
optimizer = torch.optim.SGD([*net.parameters(), *criterion.parameters()], lr=0.05)
for step in range(20):
    x = torch.randn(4, 1, 8) + 0.3 * torch.randn(4, 3, 8)
    loss = criterion(net(x))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
