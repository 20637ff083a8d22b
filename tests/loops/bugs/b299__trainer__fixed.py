# bug: B299
import torch
from torch import nn


class Diffusion:
    def loss(self, model, x):
        noise = torch.randn_like(x)
        guess = model(x + noise)
        return {"loss": nn.functional.mse_loss(model(guess), noise) + nn.functional.mse_loss(guess, x)}


class Trainer:
    def __init__(self, accumulation_steps=4):
        self.model = nn.Sequential(nn.Linear(6, 24), nn.SiLU(), nn.Linear(24, 6))
        self.diffusion = Diffusion()
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=1e-3)
        self.accumulation_steps = accumulation_steps

    def forward_backward(self):
        self.opt.zero_grad()
        for _ in range(self.accumulation_steps):
            losses = self.diffusion.loss(self.model, torch.randn(8, 6))
            loss = losses["loss"] / self.accumulation_steps
            loss.backward()

    def run(self, steps):
        for _ in range(steps):
            self.forward_backward()
            self.opt.step()


torch.manual_seed(0)
Trainer().run(12)
