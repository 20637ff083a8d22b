def accumulate_grad(param, incoming):
    assert param.shape == incoming.shape, "wrong shape"
    if param.grad is None:
        param.grad = incoming.clone()
    else:
        param.grad += incoming
