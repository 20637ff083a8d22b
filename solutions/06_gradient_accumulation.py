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
def accumulate_equal(model, loss_fn, micro_batches):
    """Leaves in .grad the gradient of all rows as one batch; the micro-batches are equal."""
    ### BEGIN SOLUTION
    model.zero_grad()
    for x, y in micro_batches:
        loss = loss_fn(model(x), y) / len(micro_batches)
        loss.backward()
    ### END SOLUTION


# %% exercise="6.2"
def accumulate_uneven(model, loss_fn, micro_batches):
    """Leaves in .grad the gradient of all rows as one batch, whatever the sizes."""
    ### BEGIN SOLUTION
    rows = sum(len(x) for x, _ in micro_batches)
    model.zero_grad()
    for x, y in micro_batches:
        loss = loss_fn(model(x), y) * len(x) / rows
        loss.backward()
    ### END SOLUTION


# %% exercise="6.3"
def accumulate_tokens(model, micro_batches, ignore_index=-100):
    """Leaves in .grad the gradient of the mean next-token loss over all targets that count."""
    ### BEGIN SOLUTION
    counted = sum((labels[:, 1:] != ignore_index).sum().item() for _, labels in micro_batches)
    model.zero_grad()
    for tokens, labels in micro_batches:
        logits = model(tokens)[:, :-1]
        loss = nn.functional.cross_entropy(
            logits.flatten(0, 1),
            labels[:, 1:].flatten(),
            ignore_index=ignore_index,
            reduction="sum",
        )
        (loss / counted).backward()
    ### END SOLUTION


# %% exercise="6.4"
def plan_windows(n_batches, window, epochs):
    """The windows of a training, in order; each is a list of pairs (epoch, batch)."""
    ### BEGIN SOLUTION
    windows = []
    for epoch in range(epochs):
        for first in range(0, n_batches, window):
            last = min(first + window, n_batches)
            windows.append([(epoch, batch) for batch in range(first, last)])
    return windows
    ### END SOLUTION


# %% exercise="6.5"
def train_accumulated(
    model, optimizer, loss_fn, batches, window, epochs, scheduler=None, max_norm=None
):
    """One step a window, as with large batches; returns each epoch's mean loss over samples."""
    ### BEGIN SOLUTION
    losses = []
    samples = sum(len(x) for x, _ in batches)
    for _ in range(epochs):
        total = 0.0
        for first in range(0, len(batches), window):
            pieces = batches[first : first + window]
            rows = sum(len(x) for x, _ in pieces)
            optimizer.zero_grad()
            for x, y in pieces:
                loss = loss_fn(model(x), y)
                (loss * len(x) / rows).backward()
                total += loss.item() * len(x)
            if max_norm is not None:
                nn.utils.clip_grad_norm_(model.parameters(), max_norm)
            optimizer.step()
            if scheduler is not None:
                scheduler.step()
        losses.append(total / samples)
    return losses
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
