# variant: NoamOpt (the Annotated Transformer): a wrapper that sets the rate inside step()
import torch
from torch import nn


class NoamOpt:
    def __init__(self, model_size: int, factor: float, warmup: int, optimizer: torch.optim.Optimizer) -> None:
        self.optimizer, self._step, self.warmup, self.factor = optimizer, 0, warmup, factor
        self.model_size = model_size

    def step(self) -> None:
        self._step += 1
        rate = self.rate()
        for p in self.optimizer.param_groups:
            p["lr"] = rate
        self.optimizer.step()

    def rate(self) -> float:
        step = self._step
        return self.factor * (self.model_size ** (-0.5) * min(step ** (-0.5), step * self.warmup ** (-1.5)))


class SimpleLossCompute:
    def __init__(self, generator: nn.Module, opt: NoamOpt) -> None:
        self.generator, self.opt = generator, opt

    def __call__(self, x: torch.Tensor, y: torch.Tensor, norm: int) -> float:
        log_probs = self.generator(x).log_softmax(-1)
        loss = nn.functional.nll_loss(log_probs.flatten(0, 1), y.flatten(), reduction="sum") / norm
        loss.backward()
        self.opt.step()
        self.opt.optimizer.zero_grad()
        return loss.item() * norm


torch.manual_seed(0)
encoder = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
embed, generator = nn.Embedding(11, 8), nn.Linear(8, 11)
everything = nn.ModuleList([embed, encoder, generator])
opt = NoamOpt(8, 1.0, 4, torch.optim.Adam(everything.parameters(), lr=0, betas=(0.9, 0.98), eps=1e-9))
compute = SimpleLossCompute(generator, opt)
for i in range(4):
    tokens = torch.randint(1, 11, (4, 7))
    total = compute(encoder(embed(tokens)), tokens, tokens.numel())

print(f"{total / tokens.numel():.4f}")
