# variant: a language model whose logits are hidden states times its own embedding table, accumulated
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
vocab, length = 12, 12
embed, mix = nn.Embedding(vocab, 8), nn.GRU(8, 8, batch_first=True)
optimizer = torch.optim.AdamW([*embed.parameters(), *mix.parameters()], lr=1e-2)
k = 4
for i in range(40):
    tokens = torch.randint(0, vocab, (1, length + 1))
    hidden, _ = mix(embed(tokens[:, :-1]))
    logits = hidden.flatten(0, 1) @ embed.weight.T  # 12 tokens by 12 words
    loss = F.cross_entropy(logits, tokens[:, 1:].flatten()) / k
    loss.backward()
    if (i + 1) % k == 0:
        optimizer.step()
        optimizer.zero_grad()

print(f"{loss.item() * k:.4f}")
