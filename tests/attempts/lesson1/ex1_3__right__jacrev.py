from torch.func import functional_call, jacrev


def parameter_gradients(model, loss_fn, x, y):
    def loss(values):
        return loss_fn(functional_call(model, values, (x,)), y)

    return jacrev(loss)({n: p.detach().clone() for n, p in model.named_parameters() if p.requires_grad})
