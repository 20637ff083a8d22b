from torch.func import functional_call, grad, vmap


def per_sample_gradients(model, loss_fn, x, y):
    params = {n: p.detach() for n, p in model.named_parameters() if p.requires_grad}

    def loss(params, xi, yi):
        return loss_fn(functional_call(model, params, (xi,)), yi)

    return vmap(grad(loss), in_dims=(None, 0, 0))(params, x, y)
