def parameter_gradients(model, loss_fn, x, y):
    model.zero_grad()
    loss_fn(model(x), y).backward()
