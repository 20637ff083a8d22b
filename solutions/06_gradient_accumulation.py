# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Gradient accumulation
#
# What this lesson is about.

# %% exercise="6.1"
def accumulate_equal(x):
    """What it takes and gives."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION

# %% exercise="6.2"
def accumulate_uneven(x):
    """What it takes and gives."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION

# %% exercise="6.3"
def accumulate_tokens(x):
    """What it takes and gives."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION

# %% exercise="6.4"
def plan_windows(x):
    """What it takes and gives."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION

# %% exercise="6.5"
def train_accumulated(x):
    """What it takes and gives."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION

# %% exercise="6.6"
def make_accumulation_safe(model):
    """Change model in place: whole batch or micro-batches, the accumulated gradient is one."""
    ### BEGIN SOLUTION
    like = next(model.parameters())
    for module in list(model.modules()):
        for name, part in module.named_children():
            if isinstance(part, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):
                norm = nn.GroupNorm(1, part.num_features, device=like.device, dtype=like.dtype)
                setattr(module, name, norm)
    ### END SOLUTION


# %% exercise="6.7"
def largest_micro_batch(peak_bytes, batch_size, budget):
    """The largest divisor of batch_size whose measured peak is at most budget, in bytes."""
    ### BEGIN SOLUTION
    sizes = [n for n in range(1, batch_size + 1) if batch_size % n == 0]
    fitting, too_large = 0, len(sizes)  # sizes[:fitting] fit, sizes[too_large:] do not
    while fitting < too_large:
        middle = (fitting + too_large) // 2
        if peak_bytes(sizes[middle]) <= budget:
            fitting = middle + 1
        else:
            too_large = middle
    if fitting == 0:
        raise ValueError(f"not even one row fits into {budget} bytes")
    return sizes[fitting - 1]
    ### END SOLUTION


# %% exercise="6.8"
def fuse_optimizer_into_backward(model, make_optimizer, window):
    """Let each window's last backward step and free the gradients; a handle with remove()."""

    ### BEGIN SOLUTION
    def stepping(optimizer):
        passes = 0

        def when_accumulated(param):
            nonlocal passes
            passes += 1
            if passes % window == 0:
                optimizer.step()
                optimizer.zero_grad()

        return when_accumulated

    hooks = []
    for param in model.parameters():
        if param.requires_grad:
            step = stepping(make_optimizer([param]))
            hooks.append(param.register_post_accumulate_grad_hook(step))

    class Handle:
        def remove(self):
            for hook in hooks:
                hook.remove()

    return Handle()
    ### END SOLUTION
