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
# # Mixed precision, many devices
#
# What this lesson is about.

# %%
import torch
from torch import nn

# %% exercise="7.1"
def underflow_fraction(gradients, scale, dtype):
    """The share of the nonzero entries that become zero in dtype, after times scale; a float."""
    ### BEGIN SOLUTION
    nonzero = lost = 0
    for gradient in gradients:
        before = gradient != 0
        after = (gradient * scale).to(dtype)
        nonzero += int(before.sum())
        lost += int((before & (after == 0)).sum())
    return lost / nonzero if nonzero else 0.0
    ### END SOLUTION

# %% exercise="7.2"
class LossScaler:
    """A loss scale that shrinks when gradients overflow and grows when they do not for a while."""

    ### BEGIN STUB
    def __init__(self, init_scale, growth_factor, backoff_factor, growth_interval):
        ...  # your code here: what must be remembered?

    def scale(self, loss):
        """The loss times the scale, with its graph."""
        return ...  # your code here

    def unscale_(self, optimizer):
        """Divide each .grad that the optimizer holds by the scale, once a round."""
        return ...  # your code here

    def step(self, optimizer):
        """Step, if every entry was finite when it was unscaled."""
        return ...  # your code here

    def update(self):
        """End the round: back off, grow, or neither."""
        return ...  # your code here

    def get_scale(self):
        """The scale, as a Python float."""
        return ...  # your code here
    ### END STUB
    ### BEGIN SOLUTION
    def __init__(self, init_scale, growth_factor, backoff_factor, growth_interval):
        self._scale = float(init_scale)
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval, self._good_rounds = growth_interval, 0
        self._overflowed = {}  # by optimizer, since the last update()
        self._stepped = set()

    def scale(self, loss):
        """The loss times the scale, with its graph."""
        return loss * self._scale

    def unscale_(self, optimizer):
        """Divide each .grad that the optimizer holds by the scale, once a round."""
        if optimizer in self._overflowed:
            raise RuntimeError("unscale_() after unscale_() or step(), without update()")
        params = [p for group in optimizer.param_groups for p in group["params"]]
        gradients = [p.grad for p in params if p.grad is not None]
        self._overflowed[optimizer] = not all(bool(g.isfinite().all()) for g in gradients)
        for gradient in gradients:
            gradient /= self._scale

    def step(self, optimizer):
        """Step, if every entry was finite when it was unscaled."""
        if optimizer in self._stepped:
            raise RuntimeError("step() after step(), without update()")
        if optimizer not in self._overflowed:
            self.unscale_(optimizer)
        self._stepped.add(optimizer)
        if not self._overflowed[optimizer]:
            optimizer.step()

    def update(self):
        """End the round: back off, grow, or neither."""
        if any(self._overflowed.values()):
            self._scale *= self._backoff_factor
            self._good_rounds = 0
        else:
            self._good_rounds += 1
            if self._good_rounds == self._growth_interval:
                self._scale *= self._growth_factor
                self._good_rounds = 0
        self._overflowed.clear()
        self._stepped.clear()

    def get_scale(self):
        """The scale, as a Python float."""
        return self._scale
    ### END SOLUTION

# %% exercise="7.3"
def amp_accumulation_step(
    model, optimizer, scaler, loss_fn, micro_batches, max_norm, scheduler=None, dtype=torch.float16
):
    """One step on a window of micro-batches; {"loss", "grad_norm", "skipped"}."""
    ### BEGIN SOLUTION
    optimizer.zero_grad()
    total = 0.0
    for x, y in micro_batches:
        with torch.autocast(x.device.type, dtype=dtype):
            loss = loss_fn(model(x), y)
        scaler.scale(loss / len(micro_batches)).backward()
        total += loss.item()
    scaler.unscale_(optimizer)
    grad_norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    before = scaler.get_scale()
    scaler.step(optimizer)
    scaler.update()
    skipped = scaler.get_scale() < before
    optimizer.zero_grad()
    if scheduler is not None and not skipped:
        scheduler.step()
    return {
        "loss": total / len(micro_batches),
        "grad_norm": grad_norm.item(),
        "skipped": skipped,
    }
    ### END SOLUTION

# %% exercise="7.4"
def accumulate_in_fp32(model, loss_fn, micro_batches):
    """{name: float32 gradient} of the mean loss over all rows; .grad stays as it was."""
    ### BEGIN SOLUTION
    trainable = {name: p for name, p in model.named_parameters() if p.requires_grad}
    totals = {name: torch.zeros_like(p, dtype=torch.float32) for name, p in trainable.items()}
    for x, y in micro_batches:
        loss = loss_fn(model(x), y)
        gradients = torch.autograd.grad(loss, list(trainable.values()), allow_unused=True)
        for total, gradient in zip(totals.values(), gradients, strict=True):
            if gradient is not None:
                total += gradient.float() / len(micro_batches)
    return totals
    ### END SOLUTION

# %% exercise="7.5"
def ddp_accumulation_step(ddp_model, optimizer, loss_fn, micro_batches):
    """One step on the mean over all samples of all ranks, with one all-reduce a bucket."""
    ### BEGIN SOLUTION
    last = len(micro_batches) - 1
    optimizer.zero_grad()
    for number, (x, y) in enumerate(micro_batches):
        # DDP reads the switch in the forward pass, so that stands inside, too.
        with ddp_model.no_sync() if number < last else contextlib.nullcontext():
            loss = loss_fn(ddp_model(x), y) / len(micro_batches)
            loss.backward()
    optimizer.step()
    ### END SOLUTION

# %% exercise="7.6"
def normalized_ddp_loss(loss_sum, local_count, world_size, all_reduce):
    """A loss whose gradient, averaged over the ranks, is that of the mean over all tokens."""
    ### BEGIN SOLUTION
    total = local_count.clone()
    all_reduce(total)
    return loss_sum * world_size / total
    ### END SOLUTION

# %% exercise="7.7"
def train(model, batches, config, checkpoint=None):
    """Train for config["steps"] windows, from the checkpoint on where there is one."""
    ### BEGIN SOLUTION
    device = batches[0][0].device.type
    optimizer = torch.optim.SGD(model.parameters(), lr=config["lr"], momentum=0.9)
    scaler = torch.amp.GradScaler(device)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: 1 - s / config["steps"])
    parts = {"model": model, "optimizer": optimizer, "scaler": scaler, "scheduler": scheduler}
    first = 0
    if checkpoint is not None and checkpoint.exists():
        saved = torch.load(checkpoint, map_location=device)
        for name, part in parts.items():
            part.load_state_dict(saved[name])
        first = saved["windows"]
    for window in range(first, config["steps"]):
        # Seeded by position: there is no random state to save, on any device.
        torch.manual_seed(100_000 * config["seed"] + window)
        optimizer.zero_grad()
        for place in range(config["window"]):
            x, y = batches[(window * config["window"] + place) % len(batches)]
            with torch.autocast(device, dtype=torch.float16):
                loss = nn.functional.cross_entropy(model(x), y) / config["window"]
            scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), config["max_norm"])
        scale = scaler.get_scale()
        scaler.step(optimizer)
        scaler.update()
        if scaler.get_scale() >= scale:
            scheduler.step()
        if checkpoint is not None:
            state = {name: part.state_dict() for name, part in parts.items()}
            beside = checkpoint.with_name(checkpoint.name + ".part")
            torch.save({**state, "windows": window + 1}, beside)
            os.replace(beside, checkpoint)
    ### END SOLUTION
