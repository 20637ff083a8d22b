def multi_loss_gradients(model, losses, weights):
    model.zero_grad()
    for loss_fn, weight in zip(losses, weights):
        (weight * loss_fn(model)).backward()
    model.zero_grad()
