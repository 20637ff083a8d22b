import torch


def two_layer_backward(W1, b1, W2, b2, x, y):
    pre = torch.einsum("nd,dh->nh", x, W1) + b1
    hidden = pre.tanh()
    signal = (torch.einsum("nh,hk->nk", hidden, W2) + b2 - y) * (2 / (y.shape[0] * y.shape[1]))
    back = torch.einsum("nk,hk,nh->nh", signal, W2, 1 - hidden.square())
    return dict(
        W1=torch.einsum("nd,nh->dh", x, back),
        b1=torch.einsum("nh->h", back),
        W2=torch.einsum("nh,nk->hk", hidden, signal),
        b2=torch.einsum("nk->k", signal),
    )
