import torch


def gradient_descent(f, x0, lr, steps):
    table = x0.new_empty((steps + 1, *x0.shape))
    table[0] = x0
    for t in range(steps):
        leaf = table[t].clone().requires_grad_()
        f(leaf).backward()
        table[t + 1] = table[t] - lr * leaf.grad
    return list(table)
