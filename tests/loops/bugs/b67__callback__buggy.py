# bug: B67
# id: average-every-micro-batch
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from torch.utils.data import DataLoader, TensorDataset


class Callback:
    def on_batch_end(self, trainer):
        pass

    def on_optimizer_step(self, trainer):
        pass


class EMACallback(Callback):
    def __init__(self, model, decay):
        self.averaged = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(decay))

    def on_batch_end(self, trainer):  # <-- bug
        self.averaged.update_parameters(trainer.model)  # <-- bug


class Trainer:
    def __init__(self, model, accumulate, callbacks):
        self.model, self.accumulate, self.callbacks = model, accumulate, callbacks
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)

    def call(self, hook):
        for callback in self.callbacks:
            getattr(callback, hook)(self)

    def fit(self, loader, epochs):
        for _ in range(epochs):
            for batch_idx, (x, y) in enumerate(loader):
                loss = nn.functional.cross_entropy(self.model(x), y)
                (loss / self.accumulate).backward()
                if (batch_idx + 1) % self.accumulate == 0:
                    self.optimizer.step()
                    self.call("on_optimizer_step")
                    self.optimizer.zero_grad(set_to_none=True)
                self.call("on_batch_end")  # <-- bug
        return loss.item()


torch.manual_seed(2)
model = nn.Sequential(nn.Linear(6, 16), nn.LayerNorm(16), nn.ReLU(), nn.Linear(16, 3))
loader = DataLoader(TensorDataset(torch.randn(60, 6), torch.randint(0, 3, (60,))), batch_size=4, shuffle=True)
trainer = Trainer(model, accumulate=3, callbacks=[EMACallback(model, decay=0.9)])
print(f"{trainer.fit(loader, epochs=2):.4f}")
