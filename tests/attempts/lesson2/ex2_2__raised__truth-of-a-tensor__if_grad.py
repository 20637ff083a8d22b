def accumulate_grad(param, incoming):
    if param.shape != incoming.shape:
        raise ValueError("wrong shape")
    if param.grad:
        param.grad += incoming
    else:
        param.grad = incoming.clone()
