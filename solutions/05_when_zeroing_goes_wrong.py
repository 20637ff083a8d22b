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
# # What happens when it goes wrong
#
# What this lesson is about.

# %% exercise="5.1"
def diagnose(x):
    """What it takes and gives."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION

# %% exercise="5.2"
def train_missing_zero(model, optimizer, loss_fn, batches, epochs):
    """A step for each (x, y), epoch after epoch; returns the mean loss of each epoch."""
    ### BEGIN STUB
    losses = []
    for _ in range(epochs):
        total = 0.0
        for x, y in batches:
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        losses.append(total / len(batches))
    return losses
    ### END STUB
    ### BEGIN SOLUTION
    losses = []
    for _ in range(epochs):
        total = 0.0
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        losses.append(total / len(batches))
    return losses
    ### END SOLUTION

# %% exercise="5.3"
def train_late_zero(model, optimizer, loss_fn, batches, epochs):
    """A step for each (x, y), epoch after epoch; returns the mean loss of each epoch."""
    ### BEGIN STUB
    losses = []
    for _ in range(epochs):
        total = 0.0
        for x, y in batches:
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.zero_grad()
            optimizer.step()
            total += loss.item()
        losses.append(total / len(batches))
    return losses
    ### END STUB
    ### BEGIN SOLUTION
    losses = []
    for _ in range(epochs):
        total = 0.0
        for x, y in batches:
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            total += loss.item()
        losses.append(total / len(batches))
    return losses
    ### END SOLUTION

# %% exercise="5.4"
def train_zero_per_epoch(model, optimizer, loss_fn, batches, epochs):
    """A step for each (x, y), epoch after epoch; returns the mean loss of each epoch."""
    ### BEGIN STUB
    losses = []
    for _ in range(epochs):
        optimizer.zero_grad()
        total = 0.0
        for x, y in batches:
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        losses.append(total / len(batches))
    return losses
    ### END STUB
    ### BEGIN SOLUTION
    losses = []
    for _ in range(epochs):
        total = 0.0
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        losses.append(total / len(batches))
    return losses
    ### END SOLUTION

# %% exercise="5.5"
def train_leaky_saliency(model, optimizer, loss_fn, batches, epochs):
    """A step for each (x, y), epoch after epoch; returns a saliency map a step."""
    ### BEGIN STUB
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            pixels = x.clone().requires_grad_()
            loss_fn(model(pixels), y).backward()
            maps.append(pixels.grad.abs())

            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
    return maps
    ### END STUB
    ### BEGIN SOLUTION
    maps = []
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            pixels = x.clone().requires_grad_()
            (slope,) = torch.autograd.grad(loss_fn(model(pixels), y), pixels)
            maps.append(slope.abs())

            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
    return maps
    ### END SOLUTION

# %% exercise="5.6"
def train_swapped_layer(model, new_head, make_optimizer, loss_fn, batches, epochs):
    """Replace model.head by new_head, then train the model, a step for each (x, y)."""
    ### BEGIN STUB
    optimizer = make_optimizer(model.parameters())
    model.head = new_head
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
    ### END STUB
    ### BEGIN SOLUTION
    model.head = new_head
    optimizer = make_optimizer(model.parameters())
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
    ### END SOLUTION

# %% exercise="5.7"
def train_kept_running_loss(model, optimizer, loss_fn, batches, epochs):
    """A step an epoch, on the mean loss of its batches; returns that loss for each epoch."""
    ### BEGIN STUB
    losses = []
    for _ in range(epochs):
        optimizer.zero_grad()
        running = 0.0
        for x, y in batches:
            running = running + loss_fn(model(x), y) / len(batches)
            running.backward(retain_graph=True)
        optimizer.step()
        losses.append(running.item())
    return losses
    ### END STUB
    ### BEGIN SOLUTION
    losses = []
    for _ in range(epochs):
        optimizer.zero_grad()
        running = 0.0
        for x, y in batches:
            loss = loss_fn(model(x), y) / len(batches)
            loss.backward()
            running += loss.item()
        optimizer.step()
        losses.append(running)
    return losses
    ### END SOLUTION

# %% exercise="5.8"
def momentum_twin(x):
    """What it takes and gives."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION

# %% exercise="5.9"
def stale_steps(x):
    """What it takes and gives."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION
