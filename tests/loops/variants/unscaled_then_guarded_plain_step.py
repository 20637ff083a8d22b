# variant: AMP over accumulation: unscale_ once per window, a finiteness check of one's own in place of scaler.step
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class AmpTrainer:
    def __init__(self, model, accumulate=3, max_norm=2.0):
        self.model, self.accumulate, self.max_norm = model, accumulate, max_norm
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
        self.scaler = torch.amp.GradScaler("cpu", init_scale=256.0, growth_interval=4)
        self.skipped = 0

    def close_window(self):
        self.scaler.unscale_(self.optimizer)
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), self.max_norm)
        if torch.isfinite(norm):
            self.optimizer.step()
        else:
            self.skipped += 1
        self.scaler.update()
        self.optimizer.zero_grad(set_to_none=True)

    def fit(self, loader, epochs):
        for _ in range(epochs):
            for i, (x, y) in enumerate(loader):
                with torch.autocast("cpu", dtype=torch.bfloat16):
                    loss = nn.functional.cross_entropy(self.model(x), y)
                self.scaler.scale(loss / self.accumulate).backward()
                if (i + 1) % self.accumulate == 0:
                    self.close_window()
        return loss.item()


torch.manual_seed(7)
trainer = AmpTrainer(nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3)))
loader = DataLoader(TensorDataset(torch.randn(60, 6), torch.randint(0, 3, (60,))), batch_size=5)
print(f"{trainer.fit(loader, epochs=2):.4f} scale {trainer.scaler.get_scale()} skipped {trainer.skipped}")
