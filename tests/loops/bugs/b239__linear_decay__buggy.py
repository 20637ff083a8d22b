# bug: B239
# id: schedule-on-another-clock
import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR


def linear_with_warmup(optimizer, num_warmup_steps, num_training_steps):
    def factor(current_step):
        if current_step < num_warmup_steps:
            return (current_step + 1) / num_warmup_steps
        return max(0.0, (num_training_steps - current_step) / (num_training_steps - num_warmup_steps))

    return LambdaLR(optimizer, factor)


class Trainer:
    def __init__(self, model, batches, epochs):
        self.model, self.batches, self.epochs = model, batches, epochs
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.scheduler = linear_with_warmup(self.optimizer, 12, len(batches) * epochs)

    def run(self):
        for _ in range(self.epochs):
            self.epoch()
            self.scheduler.step()  # <-- bug

    def epoch(self):
        for x, y in self.batches:
            self.optimizer.zero_grad(set_to_none=True)
            loss = nn.functional.binary_cross_entropy_with_logits(self.model(x).squeeze(1), y)
            loss.backward()
            self.optimizer.step()
        print(f"{loss.item():.4f}")


torch.manual_seed(12)
points = torch.randn(12, 10, 4)
batches = [(x, (x.sum(1) > 0).float()) for x in points]
Trainer(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)), batches, epochs=3).run()
