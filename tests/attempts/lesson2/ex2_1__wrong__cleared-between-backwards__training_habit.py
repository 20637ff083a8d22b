def backward_n_times(param, loss_fn, n):
    snapshots = []
    param.grad = None
    for _ in range(n):
        param.grad = None
        loss_fn(param).backward()
        snapshots.append(param.grad.clone())
    return snapshots
