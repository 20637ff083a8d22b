# bug: B165
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1)


def train(encoder, fusion, decoder, batches):
    trained = [p for part in (encoder, fusion, decoder) for p in part.parameters()]
    opt = torch.optim.RMSprop(params=trained, lr=1e-3)
    for x, y in batches:
        opt.zero_grad()
        loss = F.mse_loss(decoder(fusion(encoder(x))), y)
        loss.backward()
        opt.step()
    return loss.item()


parts = [nn.Sequential(nn.Linear(5, 10), nn.ReLU()), nn.Linear(10, 10), nn.Sequential(nn.Tanh(), nn.Linear(10, 1))]
data = [(x := torch.randn(8, 5), x.sum(1, keepdim=True)) for _ in range(20)]
print(f"{train(*parts, data):.4f}")
