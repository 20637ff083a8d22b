def accumulate_grad(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("wrong shape")
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad += incoming
    return param.grad
