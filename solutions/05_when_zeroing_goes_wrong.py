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
def diagnose(events):
    """The name of the fault in a trace, or None."""
    ### BEGIN SOLUTION
    written, stepped = set(), set()  # gradients that are ever written, or named by a step
    new, old = set(), set()  # gradients that hold something no step has used, something one has
    since = {}  # what happened to a gradient since the last step of any optimizer
    lost = set()  # gradients whose contents were cleared since their own last step
    after_step = set()  # gradients with a step behind them, and between: those cleared there
    cleared_after_step, between = set(), set()
    sums, kinds_of_step, seen = set(), set(), set()
    for event in events:
        kind, names = event["kind"], set(event["names"])
        if kind == "accumulate":
            if any(since.get(name) == "cleared" for name in names):
                seen.add("zeroed-inside-window")
            since.update(dict.fromkeys(names, "written"))
            written |= names
            new |= names
        elif kind == "clear":
            for name in names & (new | old):
                if since.get(name) == "written":
                    since[name] = "cleared"
            lost |= names & new
            cleared_after_step |= names & after_step
            new -= names
            old -= names
        elif kind == "clip":
            if names & old and not names & new:
                seen.add("clipped-after-step")
        elif kind == "step":
            stepped |= names
            kinds_of_step.add(frozenset(names))
            if names & lost and not names & (new | old):
                seen.add("zeroed-before-step")
            if names & (old - new):
                seen.add("stepped-on-used-gradients")
            sums |= names & old & new
            between |= names & cleared_after_step
            old |= names & new
            new -= names
            lost -= names
            after_step |= names
            since = {}
    if written - stepped and stepped - written:
        seen.add("layer-replaced-after-optimizer")
    if sums & between:
        seen.add("zeroed-once-per-epoch")
    if sums and any(not names & sums and names <= between for names in kinds_of_step):
        seen.add("one-of-two-optimizers-zeroed")
    if sums and not between:
        seen.add("never-zeroed")
    order = [
        "layer-replaced-after-optimizer",
        "zeroed-before-step",
        "zeroed-inside-window",
        "zeroed-once-per-epoch",
        "one-of-two-optimizers-zeroed",
        "never-zeroed",
        "stepped-on-used-gradients",
        "clipped-after-step",
    ]
    return next((fault for fault in order if fault in seen), None)
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
def momentum_twin(model, loss_fn, batches, lr):
    """Clears as it should, and takes the path of SGD that never clears."""
    ### BEGIN SOLUTION
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=1.0)
    for x, y in batches:
        # Zeros, not None: what a batch does not use must go on moving.
        optimizer.zero_grad(set_to_none=False)
        loss_fn(model(x), y).backward()
        optimizer.step()
    ### END SOLUTION

# %% exercise="5.9"
def stale_steps(events):
    """Numbers of the steps that used a gradient some earlier step had used."""
    ### BEGIN SOLUTION
    written, used = set(), set()
    stale, number = [], 0
    for event in events:
        names = set(event["names"])
        if event["kind"] == "accumulate":
            written |= names
        elif event["kind"] == "clear":
            written -= names
            used -= names
        elif event["kind"] == "step":
            if names & used:
                stale.append(number)
            used |= names & written
            number += 1
    return stale
    ### END SOLUTION
