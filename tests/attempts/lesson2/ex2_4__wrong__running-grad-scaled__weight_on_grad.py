def multi_loss_gradients(model, losses, weights):
    model.zero_grad()
    for loss_fn, weight in zip(losses, weights):
        loss_fn(model).backward()
        for p in model.parameters():
            if p.grad is not None:
                p.grad *= weight
