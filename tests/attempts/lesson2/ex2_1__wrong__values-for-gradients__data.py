def backward_n_times(param, loss_fn, n):
    param.grad = None
    snapshots = []
    for _ in range(n):
        loss_fn(param).backward()
        snapshots.append(param.data.clone())
    return snapshots
