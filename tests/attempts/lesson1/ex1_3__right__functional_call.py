import torch
from torch.func import functional_call


def parameter_gradients(model, loss_fn, x, y):
    trainable = {name: p.detach() for name, p in model.named_parameters() if p.requires_grad}
    return torch.func.grad(lambda values: loss_fn(functional_call(model, values, (x,)), y))(trainable)
