"""Moves all entries, and hands the one number back as it is."""


def numerical_gradient(f, x, h=1e-5):
    return (f(x + h) - f(x - h)) / (2 * h)
