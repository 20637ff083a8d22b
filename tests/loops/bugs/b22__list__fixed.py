# bug: B22
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
encoder = nn.Linear(10, 8)
decoder = nn.Linear(8, 10)
enc_optimizer = torch.optim.SGD(encoder.parameters(), lr=0.05)
dec_optimizer = torch.optim.SGD(decoder.parameters(), lr=0.05)
batches = [torch.randn(8, 10) for _ in range(8)]

for x in batches:
    enc_optimizer.zero_grad()
    dec_optimizer.zero_grad()
    loss = F.mse_loss(decoder(torch.tanh(encoder(x))), x)
    loss.backward()
    enc_optimizer.step()
    dec_optimizer.step()
print(loss.item())
