# bug: B87
import torch

torch.manual_seed(0)
params = {
    "w1": (0.4 * torch.randn(5, 8)).requires_grad_(True),
    "b1": torch.zeros(8, requires_grad=True),
    "w2": (0.4 * torch.randn(8, 1)).requires_grad_(True),
}
velocity = {}
for _ in range(12):
    x = torch.randn(16, 5)
    loss = ((torch.tanh(x @ params["w1"] + params["b1"]) @ params["w2"] - x[:, :1]) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        for name, p in params.items():
            if name not in velocity:
                velocity[name] = p.grad.clone()
            else:
                velocity[name].mul_(0.9).add_(p.grad)
            p -= 0.05 * velocity[name]
            p.grad.zero_()
