import torch
from torch.autograd import forward_ad


def linear_mse_gradient(w, x, y):
    slopes = []
    with forward_ad.dual_level():
        for e in torch.eye(len(w), dtype=w.dtype):
            dual = forward_ad.make_dual(w, e)
            slopes.append(forward_ad.unpack_dual(((x @ dual - y) ** 2).mean()).tangent)
    return torch.stack(slopes)
