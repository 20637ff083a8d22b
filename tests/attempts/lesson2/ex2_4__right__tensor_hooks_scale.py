def multi_loss_gradients(model, losses, weights):
    for p in model.parameters():
        if p.grad is not None:
            p.grad.data.zero_()
    k = 0
    while k < len(losses):
        loss = losses[k](model)
        loss.register_hook(lambda g, k=k: g * weights[k])
        loss.backward()
        del loss
        k += 1
