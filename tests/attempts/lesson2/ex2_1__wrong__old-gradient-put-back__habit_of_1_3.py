def backward_n_times(param, loss_fn, n):
    saved = param.grad
    param.grad = None
    snapshots = []
    for _ in range(n):
        loss_fn(param).backward()
        snapshots.append(param.grad.clone())
    param.grad = saved
    return snapshots
