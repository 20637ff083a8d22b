# variant: language model in chunks: the carried state is detached between the chunks, every layer learns in each
import torch
from torch import nn


class CharRNN(nn.Module):
    def __init__(self, vocab=12, hidden=16):
        super().__init__()
        self.embed = nn.Embedding(vocab, 8)
        self.lstm = nn.LSTM(8, hidden, batch_first=True)
        self.out = nn.Linear(hidden, vocab)

    def forward(self, tokens, state=None):
        if state is not None:
            state = tuple(s.detach() for s in state)
        h, state = self.lstm(self.embed(tokens), state)
        return self.out(h), state


def train(model, text, chunk=8, epochs=2):
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(epochs):
        state = None
        for start in range(0, text.size(1) - 1, chunk):
            x, y = text[:, start : start + chunk], text[:, start + 1 : start + chunk + 1]
            logits, state = model(x[:, : y.size(1)], state)
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), y.flatten())
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
    return loss.item()


torch.manual_seed(4)
print(f"{train(CharRNN(), torch.randint(0, 12, (4, 61))):.4f}")
