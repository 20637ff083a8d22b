# bug: B14
import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_
from torch.utils.data import DataLoader, TensorDataset


class LSTMTrainer:
    def __init__(self, loader, max_norm):
        self.rnn = nn.LSTM(4, 8, batch_first=True)
        self.proj = nn.Linear(8, 4)
        self.loader = loader
        self.max_norm = max_norm
        self.params = [*self.rnn.parameters(), *self.proj.parameters()]
        self.optim = torch.optim.SGD(self.params, lr=0.5)

    def loss(self, seq):
        out, _ = self.rnn(seq[:, :-1])
        return nn.functional.mse_loss(self.proj(out), seq[:, 1:])

    def epoch(self):
        for (seq,) in self.loader:
            loss = self.loss(seq)
            loss.backward()
            clip_grad_norm_(self.params, self.max_norm)
            self.optim.step()
            self.optim.zero_grad()
        return loss.item()


torch.manual_seed(1)
trainer = LSTMTrainer(DataLoader(TensorDataset(torch.randn(24, 6, 4)), batch_size=6), max_norm=0.1)
trainer.epoch()
print(trainer.epoch())
