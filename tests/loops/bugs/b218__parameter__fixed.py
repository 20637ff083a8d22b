# bug: B218
import torch
from torch import nn


class Quantizer(nn.Module):
    def __init__(self, entries, width, commitment=0.25):
        super().__init__()
        self.codebook = nn.Parameter(torch.randn(entries, width))
        self.commitment = commitment

    def forward(self, latents):
        flat = latents.reshape(-1, latents.shape[-1])
        distance = flat.pow(2).sum(1, keepdim=True) - 2 * flat @ self.codebook.t() + self.codebook.pow(2).sum(1)
        index = distance.argmin(1)
        quantized = self.codebook[index].view_as(latents)
        codebook_loss = (quantized - latents.detach()).pow(2).mean()
        commitment_loss = (quantized.detach() - latents).pow(2).mean()
        quantized = latents - (latents - quantized).detach()
        return quantized, codebook_loss + self.commitment * commitment_loss


torch.manual_seed(0)
encoder = nn.GRU(3, 8, batch_first=True)
quantizer, decoder = Quantizer(16, 8), nn.Linear(8, 3)
parameters = [p for part in (encoder, quantizer, decoder) for p in part.parameters()]
optimizer = torch.optim.AdamW(parameters, lr=2e-3)
for step in range(15):
    x = torch.randn(4, 10, 3).cumsum(1)
    quantized, loss = quantizer(encoder(x)[0])
    loss = loss + (decoder(quantized) - x).abs().mean()
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
