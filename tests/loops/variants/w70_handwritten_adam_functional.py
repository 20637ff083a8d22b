# variant: weights in a plain dictionary, autograd.grad and a hand-written Adam, no .grad anywhere
import torch

torch.manual_seed(0)
weights = {"w1": torch.randn(6, 16) / 6**0.5, "w2": torch.randn(16, 1) / 4}
m = {k: torch.zeros_like(v) for k, v in weights.items()}
v2 = {k: torch.zeros_like(v) for k, v in weights.items()}
for t in range(1, 9):
    weights = {k: v.requires_grad_() for k, v in weights.items()}
    x = torch.randn(8, 6)
    loss = (torch.tanh(x @ weights["w1"]) @ weights["w2"] - x[:, :1]).pow(2).mean()
    grads = dict(zip(weights, torch.autograd.grad(loss, list(weights.values()))))
    new = {}
    for k, g in grads.items():
        m[k] = 0.9 * m[k] + 0.1 * g
        v2[k] = 0.999 * v2[k] + 0.001 * g * g
        new[k] = weights[k].detach() - 0.01 * (m[k] / (1 - 0.9**t)) / ((v2[k] / (1 - 0.999**t)).sqrt() + 1e-8)
    weights = new

print(f"{loss.item():.4f}")
