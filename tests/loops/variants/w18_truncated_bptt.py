# variant: truncated backpropagation through time: the hidden state detached between chunks
import torch
from torch import nn

torch.manual_seed(0)
vocab, bptt, batch = 11, 5, 3
data = torch.randint(0, vocab, (26, batch))


class RNNModel(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Embedding(vocab, 12)
        self.rnn = nn.LSTM(12, 12)
        self.decoder = nn.Linear(12, vocab)

    def forward(self, x: torch.Tensor, hidden: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, tuple]:
        out, hidden = self.rnn(self.encoder(x), hidden)
        return self.decoder(out).view(-1, vocab), hidden


def repackage_hidden(h):
    if isinstance(h, torch.Tensor):
        return h.detach()
    return tuple(repackage_hidden(v) for v in h)


model = RNNModel()
lr = 1.0
model.train()
total_loss = 0.0
for epoch in range(2):
    hidden = (torch.zeros(1, batch, 12), torch.zeros(1, batch, 12))
    for i in range(0, data.size(0) - 1, bptt):
        seq_len = min(bptt, len(data) - 1 - i)
        x, target = data[i : i + seq_len], data[i + 1 : i + 1 + seq_len].view(-1)
        model.zero_grad()
        hidden = repackage_hidden(hidden)
        output, hidden = model(x, hidden)
        loss = nn.functional.cross_entropy(output, target)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        for p in model.parameters():
            p.data.add_(p.grad, alpha=-lr)
        total_loss += loss.item()

print(f"{total_loss / 10:.4f}")
