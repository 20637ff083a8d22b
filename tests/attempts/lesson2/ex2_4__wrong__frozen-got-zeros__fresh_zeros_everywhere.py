import torch


def multi_loss_gradients(model, losses, weights):
    for p in model.parameters():
        p.grad = torch.zeros_like(p)
    for loss_fn, weight in zip(losses, weights):
        (weight * loss_fn(model)).backward()
