def multi_loss_gradients(model, losses, weights):
    model.zero_grad()
    total = sum(weights)
    for loss_fn, weight in zip(losses, weights):
        (weight / total * loss_fn(model)).backward()
