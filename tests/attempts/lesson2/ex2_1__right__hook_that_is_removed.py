def backward_n_times(param, loss_fn, n):
    del param.grad
    seen = []
    handle = param.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.clone()))
    try:
        for _ in range(n):
            loss_fn(param).backward(inputs=[param])
    finally:
        handle.remove()
    return tuple(seen)
