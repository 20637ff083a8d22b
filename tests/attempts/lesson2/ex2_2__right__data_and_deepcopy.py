import copy


def accumulate_grad(param, incoming):
    if not param.shape == incoming.shape:
        raise ValueError
    grad = param.grad
    if grad is not None:
        grad.data.add_(incoming.data)
    else:
        param.grad = copy.deepcopy(incoming)
