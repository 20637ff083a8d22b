# bug: B164
# id: divided-twice
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(5)


def masked_mean(values, mask):
    return (values * mask).sum() / mask.sum()


def send_back(loss, parts):
    loss = loss / parts
    loss.backward()


def train(model, batches, parts):
    opt = torch.optim.SGD(model.parameters(), lr=0.5)
    for first in range(0, len(batches), parts):
        opt.zero_grad()
        for tokens, mask in batches[first : first + parts]:
            each = F.cross_entropy(model(tokens[:, :-1]).transpose(1, 2), tokens[:, 1:], reduction="none")
            loss = masked_mean(each, mask)
            loss /= parts  # <-- bug
            send_back(loss, parts)
        opt.step()
    return loss


lm = nn.Sequential(nn.Embedding(11, 12), nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 11))
data = [(torch.randint(0, 11, (5, 7)), (torch.rand(5, 6) > 0.3).float()) for _ in range(15)]
print(f"{train(lm, data, 3).item():.4f}")
