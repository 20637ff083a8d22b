import torch


class ShapeError(ValueError):
    pass


def accumulate_grad(param, incoming):
    same = param.dim() == incoming.dim() and all(a == b for a, b in zip(param.shape, incoming.shape))
    if not same:
        raise ShapeError()
    if param.grad is None:
        param.grad = incoming + 0
    else:
        torch._foreach_add_([param.grad], [incoming])
