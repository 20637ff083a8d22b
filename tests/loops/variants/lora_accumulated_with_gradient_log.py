# variant: LoRA over accumulation: zero gradients of A are read after every micro-batch of the first window
import torch
from torch import nn


class LoRALinear(nn.Linear):
    def __init__(self, in_features, out_features, r=2):
        super().__init__(in_features, out_features)
        self.weight.requires_grad = False
        self.bias.requires_grad = False
        self.lora_A = nn.Linear(in_features, r, bias=False)
        self.lora_B = nn.Linear(r, out_features, bias=False)
        nn.init.zeros_(self.lora_B.weight)

    def forward(self, x):
        return super().forward(x) + self.lora_B(self.lora_A(x))


class GradientLog:
    def __init__(self, model):
        self.params = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
        self.lines = []

    def __call__(self, tag):
        row = []
        for name, p in self.params:
            g = p.grad.detach().flatten()
            row.append((name, g.abs().max().item(), (g == 0).float().mean().item()))
        self.lines.append((tag, row))


def finetune(model, batches, accumulate=4):
    log = GradientLog(model)
    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.2, momentum=0.9)
    optimizer.zero_grad(set_to_none=False)
    for i, (x, y) in enumerate(batches):
        loss = nn.functional.mse_loss(model(x), y)
        (loss / accumulate).backward()
        log(f"micro-batch {i}")
        if (i + 1) % accumulate == 0:
            nn.utils.clip_grad_norm_([p for p in model.parameters() if p.requires_grad], 1.0)
            log(f"step {i // accumulate}")
            optimizer.step()
            optimizer.zero_grad(set_to_none=False)
    return loss.item(), log


torch.manual_seed(1)
net = nn.Sequential(LoRALinear(6, 10), nn.Tanh(), LoRALinear(10, 2))
value, log = finetune(net, [(torch.randn(4, 6), torch.randn(4, 2)) for _ in range(32)])
print(f"{value:.4f}", log.lines[0][1][0], log.lines[-1][1][0])
