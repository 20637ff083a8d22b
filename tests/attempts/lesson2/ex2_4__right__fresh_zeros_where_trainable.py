import torch


def multi_loss_gradients(model, losses, weights):
    for p in model.parameters():
        if p.requires_grad:
            p.grad = torch.zeros_like(p)
    for loss_fn, weight in zip(losses, weights):
        loss_fn(model).backward(torch.tensor(weight))
