# bug: B290
# id: average-taken-twice
# severity: warning
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn


class EMACallback:
    def __init__(self, decay):
        self.decay, self.average = decay, None

    def on_fit_start(self, model):
        self.average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(self.decay))

    def on_train_batch_end(self, model):
        self.average.update_parameters(model)

    def on_train_epoch_end(self, model):
        self.average.update_parameters(model)  # <-- bug


class Trainer:
    def __init__(self, callback):
        self.callback = callback

    def fit(self, model, optimizer, batches, epochs):
        self.callback.on_fit_start(model)
        for epoch in range(epochs):
            for x, y in batches:
                loss = nn.functional.mse_loss(model(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                self.callback.on_train_batch_end(model)
            self.end_of_epoch(model)

    def end_of_epoch(self, model):
        if hasattr(self.callback, "on_train_epoch_end"):
            self.callback.on_train_epoch_end(model)


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
batches = [(torch.randn(8, 4), torch.randn(8, 1)) for _ in range(6)]
Trainer(EMACallback(0.9)).fit(model, torch.optim.Adam(model.parameters(), lr=1e-2), batches, 5)
