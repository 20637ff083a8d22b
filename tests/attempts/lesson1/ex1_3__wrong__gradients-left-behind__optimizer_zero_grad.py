import torch


def parameter_gradients(model, loss_fn, x, y):
    torch.optim.SGD(model.parameters(), lr=0.1).zero_grad()
    loss_fn(model(x), y).backward()
    result = {}
    for name, p in model.named_parameters():
        if p.requires_grad:
            result[name] = torch.zeros_like(p) if p.grad is None else p.grad.clone()
    return result
