# variant: several forwards to one loss that are parts of one thing: the steps of a sequence, and chunks of one batch
import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(4, 8)
        self.out = nn.Linear(8, 4)

    def forward(self, x, hidden):
        hidden = self.cell(x, hidden)
        return self.out(hidden), hidden


torch.manual_seed(2)
decoder, classifier = Decoder(), nn.Linear(6, 3)
optimizer = torch.optim.Adam([*decoder.parameters(), *classifier.parameters()], lr=0.01)
for _ in range(6):
    sequence, hidden, loss = torch.randn(5, 8, 4).cumsum(0), torch.zeros(8, 8), 0.0
    for at in range(4):
        predicted, hidden = decoder(sequence[at], hidden)
        loss += nn.functional.mse_loss(predicted, sequence[at + 1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

    mixture, logits = torch.randn(12, 6), []
    for chunk in mixture.split(4):
        logits.append(classifier(chunk))
    loss = nn.functional.cross_entropy(torch.cat(logits), mixture[:, :3].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.4f}")
