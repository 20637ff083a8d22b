def backward_n_times(param, loss_fn, n):
    param.grad = None
    for _ in range(n):
        loss_fn(param).backward()
    return param.grad.clone() if n else []
