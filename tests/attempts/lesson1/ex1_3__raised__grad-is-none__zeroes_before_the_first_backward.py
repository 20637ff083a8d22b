def parameter_gradients(model, loss_fn, x, y):
    for p in model.parameters():
        p.grad.zero_()
    loss_fn(model(x), y).backward()
    return {n: p.grad.clone() for n, p in model.named_parameters()}
