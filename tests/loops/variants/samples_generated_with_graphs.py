# variant: four tokens generated one after another without no_grad, then one forward on the whole goes backward
import torch
from torch import nn

torch.manual_seed(0)
vocab = 9
model = nn.Sequential(nn.Embedding(vocab, 12), nn.Linear(12, 12), nn.Tanh(), nn.Linear(12, vocab))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for iteration in range(9):
    tokens = torch.randint(0, vocab, (6, 1))
    for _ in range(4):
        logits = model(tokens)[:, -1]
        tokens = torch.cat([tokens, torch.multinomial(logits.softmax(-1), 1)], 1)
    reward = (tokens[:, 1:] % 2).float().mean(1)
    advantage = (reward - reward.mean()) / (reward.std() + 1e-6)
    log_probs = model(tokens[:, :-1]).log_softmax(-1).gather(2, tokens[:, 1:, None]).squeeze(2)
    loss = -(advantage[:, None] * log_probs).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

print(f"{loss.item():.4f}")
