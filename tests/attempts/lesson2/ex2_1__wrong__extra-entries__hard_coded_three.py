def backward_n_times(param, loss_fn, n):
    param.grad = None
    loss_fn(param).backward()
    g = param.grad.clone()
    param.grad = n * g
    return [g, 2 * g, 3 * g] if n < 4 else [g * (k + 1) for k in range(n)]
