def multi_loss_gradients(model, losses, weights):
    model.zero_grad()
    for loss_fn in losses:
        loss_fn(model).backward()
