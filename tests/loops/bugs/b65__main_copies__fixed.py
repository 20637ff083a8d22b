# bug: B65
import math

import torch
from torch import nn
from torch.autograd import Variable


class MixedPrecision:
    """Steps float32 copies, which stand in the groups of the optimizer where the bfloat16 weights stood."""

    def __init__(self, model, optimizer, clip):
        self.model, self.optimizer, self.clip = model, optimizer, clip
        self.pairs, self.listeners = [], []
        for group in optimizer.param_groups:
            for i, param in enumerate(group["params"]):
                main = param.detach().clone().float()
                group["params"][i] = main
                self.pairs.append((param, main))
        for param in model.parameters():
            param.main_grad = torch.zeros_like(param, dtype=torch.float)
            accumulates = param.expand_as(param).grad_fn.next_functions[0][0]
            accumulates.register_hook(self.hook(param))
            self.listeners.append(accumulates)

    def hook(self, param):
        def gather(*unused):
            if param.grad is not None:
                param.main_grad.add_(param.grad.data)
                param.grad = None

        return gather

    def zero_grad(self):
        for param, main in self.pairs:
            param.main_grad.zero_()
            main.grad = None

    @torch.no_grad()
    def step(self):
        for param, main in self.pairs:
            main.grad = param.main_grad.float()
        norm = math.sqrt(sum(float(main.grad.norm()) ** 2 for _, main in self.pairs))
        if not math.isfinite(norm):
            return False
        for _, main in self.pairs:
            main.grad.mul_(min(1.0, self.clip / (norm + 1e-6)))
        self.optimizer.step()
        for param, main in self.pairs:
            param.data.copy_(main)
        return True


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 2)).bfloat16()
optimizer = MixedPrecision(model, torch.optim.AdamW(model.parameters(), lr=1e-3), 1.0)
skipped = 0
for iteration in range(24):
    optimizer.zero_grad()
    for _ in range(2):
        x = torch.randn(4, 6)
        mask = torch.zeros(4) if iteration == 10 else torch.ones(4)
        losses = nn.functional.cross_entropy(model(x.bfloat16()).float(), (x[:, 0] > 0).long(), reduction="none")
        loss = (losses * mask).sum() / mask.sum() / 2
        Variable._execution_engine.run_backward(
            tensors=(loss,),
            grad_tensors=(torch.ones(()),),
            keep_graph=False,
            create_graph=False,
            inputs=(),
            allow_unreachable=True,
            accumulate_grad=True,
        )
    skipped += not optimizer.step()
print(skipped)
