# bug: B230
# id: schedule-moves-nothing
import math

import torch
from torch import nn


class LanguageModel(nn.Module):
    def __init__(self, vocab=12, width=16):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.mix = nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(width, vocab)

    def forward(self, tokens):
        return self.out(self.mix(self.embed(tokens))[0])


class Pretrainer:
    def __init__(self, model, max_lr=3e-3, min_lr=3e-4, warmup=5, total=25):
        self.model = model
        self.max_lr, self.min_lr, self.warmup, self.total = max_lr, min_lr, warmup, total
        self.opt = torch.optim.AdamW(model.parameters(), lr=max_lr, betas=(0.9, 0.95))

    def rate(self, it):
        if it < self.warmup:
            return self.max_lr * (it + 1) / self.warmup
        done = (it - self.warmup) / (self.total - self.warmup)
        return self.min_lr + 0.5 * (1 + math.cos(math.pi * done)) * (self.max_lr - self.min_lr)

    def run(self, corpus):
        for it in range(self.total):
            self.opt.defaults["lr"] = self.rate(it)  # <-- bug
            at = torch.randint(0, len(corpus) - 9, (8,))
            rows = torch.stack([corpus[i : i + 9] for i in at])
            logits = self.model(rows[:, :-1])
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten())
            self.opt.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.opt.step()
        return loss.item()


torch.manual_seed(4)
print(Pretrainer(LanguageModel()).run(torch.arange(400) * 5 % 12))
