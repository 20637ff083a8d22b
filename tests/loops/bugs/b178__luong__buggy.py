# bug: B178
# id: state-handed-without-graph
import torch
from torch import nn

torch.manual_seed(2)
embed = nn.Embedding(10, 16)
encoder, decoder = nn.GRU(16, 16), nn.RNN(16, 16)
head = nn.Linear(32, 10)
parts = nn.ModuleList([embed, encoder, decoder, head])
optimizer = torch.optim.SGD(parts.parameters(), lr=0.2)
for epoch in range(8):
    words = torch.randint(0, 10, (4, 6))
    outputs, last = encoder(embed(words))
    with torch.no_grad():  # <-- bug
        first = last.clone()  # <-- bug
    states, _ = decoder(embed(words.flip(0)), first)  # <-- bug
    weights = torch.einsum("tbh,sbh->bts", states, outputs).softmax(-1)
    mixed = torch.einsum("bts,sbh->tbh", weights, outputs)
    scores = head(torch.cat([states, mixed], -1))
    loss = nn.functional.cross_entropy(scores.flatten(0, 1), words.roll(1, 0).flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
