# bug: B68
# id: auxiliary-loss-not-divided
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
embed, rnn, head = nn.Embedding(12, 16), nn.LSTM(16, 16, batch_first=True), nn.Linear(16, 12)
parameters = [*embed.parameters(), *rnn.parameters(), *head.parameters()]
optimizer = torch.optim.SGD(parameters, lr=0.5)
batch_size, small_batch_size, alpha, beta = 24, 6, 2, 1
for step in range(60):
    data = torch.randint(12, (batch_size, 9))
    data[:, 1::2] = data[:, ::2][:, :4]
    optimizer.zero_grad()
    for start in range(0, batch_size, small_batch_size):
        part = data[start : start + small_batch_size]
        states, _ = rnn(embed(part[:, :-1]))
        logits = head(states)
        raw_loss = F.cross_entropy(logits.reshape(-1, 12), part[:, 1:].reshape(-1))
        loss = raw_loss * small_batch_size / batch_size
        loss = loss + sum(alpha * h.pow(2).mean() for h in [states])
        loss = loss + sum(beta * (h[:, 1:] - h[:, :-1]).pow(2).mean() for h in [states])  # <-- bug
        loss.backward()  # <-- bug
    optimizer.step()
print(f"{raw_loss:.4f}")
