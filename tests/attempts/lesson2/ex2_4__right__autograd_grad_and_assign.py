import torch


def multi_loss_gradients(model, losses, weights):
    params = [p for p in model.parameters() if p.requires_grad]
    totals = [torch.zeros_like(p) for p in params]
    for loss_fn, weight in zip(losses, weights):
        grads = torch.autograd.grad(loss_fn(model), params, allow_unused=True)
        for total, grad in zip(totals, grads):
            if grad is not None:
                total += weight * grad
    for p, total in zip(params, totals):
        p.grad = total
    return {name: p.grad for name, p in model.named_parameters()}
