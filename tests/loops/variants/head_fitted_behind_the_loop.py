# variant: behind the loop over the batches a second part is trained on what all of its turns left, or on other data
import torch
from torch import nn

torch.manual_seed(2)

encoder = nn.Sequential(nn.Linear(5, 8), nn.Tanh())
decoder = nn.Linear(8, 5)
temperature = nn.Parameter(torch.zeros(()))
probe = nn.Linear(8, 3)
opt = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-2)
probe_opt = torch.optim.SGD(probe.parameters(), lr=0.1)
tune = torch.optim.SGD([temperature], lr=0.1)
data, labels = torch.randn(64, 5), torch.randint(0, 3, (64,))
held_out, held_labels = torch.randn(32, 5), torch.randint(0, 3, (32,))

for epoch in range(6):
    codes, total = [], 0.0
    for rows in torch.randperm(64).split(16):
        batch = data[rows]
        code = encoder(batch)
        loss = nn.functional.mse_loss(decoder(code), batch)
        opt.zero_grad()
        loss.backward()
        opt.step()
        codes.append((code.detach(), labels[rows]))
        total += loss.item()

    inputs = torch.cat([one for one, _ in codes])
    answers = torch.cat([one for _, one in codes])
    probe_loss = nn.functional.cross_entropy(probe(inputs), answers)
    probe_opt.zero_grad()
    probe_loss.backward()
    probe_opt.step()

    with torch.no_grad():
        logits = probe(encoder(held_out))
    scaled = nn.functional.cross_entropy(logits * temperature.exp(), held_labels)
    tune.zero_grad()
    scaled.backward()
    tune.step()
    print(epoch, total, loss.item(), probe_loss.item())
