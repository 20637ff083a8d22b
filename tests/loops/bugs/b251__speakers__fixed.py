# bug: B251
import torch
import torch.nn.functional as F
from torch import nn
from torch.autograd import Function


class GRL(Function):
    """So that an encoding says what is spoken, and not by whom."""

    @staticmethod
    def forward(ctx, encoded, scale):
        ctx.scale = scale
        return encoded.clone()

    @staticmethod
    def backward(ctx, grads):
        return -ctx.scale * grads, None


torch.manual_seed(1)
encoder = nn.GRU(6, 12, batch_first=True)
speech, speaker = nn.Linear(12, 5), nn.Linear(12, 4)
parameters = [*encoder.parameters(), *speech.parameters(), *speaker.parameters()]
optimizer = torch.optim.SGD(parameters, lr=0.05)
for step in range(16):
    frames, words, who = torch.randn(8, 7, 6), torch.randint(0, 5, (8,)), torch.randint(0, 4, (8,))
    encoded = encoder(frames)[0].mean(1)
    loss = F.cross_entropy(speech(encoded), words) + F.cross_entropy(speaker(GRL.apply(encoded, 0.3)), who)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.4f}")
