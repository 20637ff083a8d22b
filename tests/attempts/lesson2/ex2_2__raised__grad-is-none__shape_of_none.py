def accumulate_grad(param, incoming):
    if param.grad.shape != incoming.shape:
        raise ValueError("wrong shape")
    param.grad += incoming
