def accumulate_grad(param, incoming):
    if param.shape != incoming.shape:
        raise TypeError(f"bad shape {incoming.shape}")
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad += incoming
