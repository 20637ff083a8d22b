import torch


def parameter_gradients(model, loss_fn, x, y):
    for p in model.parameters():
        if p.requires_grad and p.grad is None:
            p.grad = torch.zeros_like(p)
    saved = {n: p.grad.clone() for n, p in model.named_parameters() if p.requires_grad}
    model.zero_grad(set_to_none=False)
    loss_fn(model(x), y).backward()
    result = {n: p.grad.clone() for n, p in model.named_parameters() if p.requires_grad}
    for n, p in model.named_parameters():
        if p.requires_grad:
            p.grad.copy_(saved[n])
    return result
