import torch


def accumulate_grad(param, incoming):
    held = param.grad
    if (param.shape if held is None else held.shape) != incoming.shape:
        raise ValueError("the gradient must have the parameter's shape")
    if held is None:
        param.grad = torch.empty_like(param, requires_grad=False).copy_(incoming)
        return
    held.copy_(held + incoming)
    return None
