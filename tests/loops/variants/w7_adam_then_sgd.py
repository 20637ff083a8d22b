# variant: Adam and then SGD hold the same parameters, in turn; a network in eval mode gets gradients that nobody uses
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
decoder = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Unflatten(1, (1, 4, 4)), nn.Conv2d(1, 1, 3, padding=1))
perceptual = nn.Sequential(nn.Conv2d(1, 6, 3, padding=1), nn.ReLU(), nn.Conv2d(6, 6, 3, padding=1)).eval()

adam = torch.optim.Adam(decoder.parameters(), lr=5e-3)
sgd = torch.optim.SGD(decoder.parameters(), lr=1e-2, momentum=0.9)
switch = 4
codes = torch.randn(48, 4)
images = codes.unsqueeze(2) * codes.unsqueeze(1)

for epoch in range(8):
    optimizer = adam if epoch < switch else sgd
    total = 0.0
    for code, image in zip(codes.split(16), images.unsqueeze(1).split(16)):
        made = decoder(code)
        loss = F.mse_loss(made, image) + F.l1_loss(perceptual(made), perceptual(image))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(epoch, type(optimizer).__name__, total / 3)
