"""Bookkeeping of accumulation windows: their size, their loss, their schedule."""

from __future__ import annotations

import ast
import linecache
from collections import Counter
from collections.abc import Iterator

from gradient_ledger.events import Finding, Place
from gradient_ledger.rules.view import View, Window, finding, steps_of, times


def sizes(view: View) -> Iterator[Finding]:
    """Windows of another size than meant."""
    for optimizer, windows in view.windows.items():
        whole = [w for w in windows if w.passes and not w.get("stale") and not _stale_inside(w)]
        if len(whole) < 2 and not view.log.window:
            continue
        size = view.size(optimizer)
        found = [w.micro_batches for w in whole]
        if not size or not found:
            continue
        if view.log.window and size > 1 and set(found) == {1} and len(found) > 1:
            yield _every_micro_batch(view, whole, size)
            continue
        if size < 2:
            continue
        larger = [w for w in whole if w.micro_batches > size]
        smaller = [w for w in whole if w.micro_batches < size]
        across = [w for w in whole if w.micro_batches != size and _over_epochs(w)]
        if larger or across:
            yield from _odd(view, whole, larger, smaller, across, size)
        elif smaller and not _tails(view, whole, smaller):
            if view.log.window or _idle_forwards(view, smaller):
                yield _misaligned(view, whole, smaller, size)


def _over_epochs(window: Window) -> bool:
    """Whether a new pass over the data began while gradients of the last one were waiting."""
    return any(e.details.get("pending") for e in window.of("pass over data"))


def _stale_inside(window: Window) -> bool:
    return any(e.details.get("onto_used") for e in window.of("accumulate"))


def _every_micro_batch(view: View, windows: list[Window], size: int) -> Finding:
    inside = any(w.get("inside_backward") for w in windows)
    how = "inside backward(), " if inside else ""
    return finding(
        "step-every-micro-batch",
        "error",
        windows[0].step.where,
        f"The optimizer steps {how}after every micro-batch: {times(len(windows), 'step')} on 1 backward pass each, "
        f"where windows of {size} were meant.",
        "Step only on the last micro-batch of a window; an optimizer fused into backward must wait for it too.",
        sizes=[w.micro_batches for w in windows][:20],
        window=size,
    )


def _odd(
    view: View, windows: list[Window], larger: list[Window], smaller: list[Window], across: list[Window], size: int
) -> Iterator[Finding]:
    sizes = [w.micro_batches for w in windows]
    loaders = any(e.kind == "pass over data" for e in view.events)
    excess = {w.micro_batches - size for w in larger}
    at = [windows.index(w) for w in larger]
    regular = len({b - a for a, b in zip(at, at[1:], strict=False)}) <= 1
    leaks = bool(across) if loaders else len(excess) == 1 and max(excess) < size and regular and not smaller
    place = _condition((larger or across)[0].step.where)
    if leaks and not _idle_forwards(view, larger):
        sure = loaders or bool(view.log.window)
        yield finding(
            "tail-leaks-into-next-epoch",
            "error" if sure else "warning",
            place,
            f"Windows of {size} were meant; the steps used {_list(sizes)}: micro-batches left over at the end of an "
            f"epoch were added to the next one's first window{'' if sure else ', as far as the sizes alone can tell'}.",
            "Step once more at the end of each epoch for the micro-batches left over, or count across epochs.",
            sizes=sizes[:40],
            window=size,
            steps=steps_of(across or larger),
        )
    elif view.log.window or _idle_forwards(view, larger + smaller):
        yield _misaligned(view, windows, larger + smaller, size)


def _misaligned(view: View, windows: list[Window], odd: list[Window], size: int) -> Finding:
    sizes = [w.micro_batches for w in windows]
    return finding(
        "window-misaligned",
        "error" if view.log.window else "warning",
        _condition(odd[0].step.where),
        f"Windows of {size} were meant; the steps used {_list(sizes)}: the test that ends a window counts something "
        "other than the backward passes.",
        "Count the micro-batches that were really accumulated, and test that count; "
        "a skipped batch must not move the loop counter past the step.",
        sizes=sizes[:40],
        window=size,
        steps=steps_of(odd),
    )


def _idle_forwards(view: View, windows: list[Window]) -> bool:
    """Whether a forward in these windows was never followed by a backward: a batch was given up."""
    for window in windows:
        runs = Counter(
            e.details.get("model") for e in window.of("forward") if e.details.get("grad") and e.details.get("training")
        )
        if max(runs.values(), default=0) > len(window.of("backward")):
            return True
    return False


def _tails(view: View, windows: list[Window], smaller: list[Window]) -> bool:
    """Whether the small windows are the last of their epochs, which is how it should be."""
    at = [windows.index(w) for w in smaller]
    if any(e.kind == "pass over data" for e in view.events):
        ends = {
            w.number
            for w in windows
            if w is windows[-1]
            or any(e.kind == "pass over data" for e in windows[windows.index(w) + 1].events)
            or not windows[windows.index(w) + 1].events
        }
        return all(w.number in ends for w in smaller)
    if len({w.micro_batches for w in smaller}) > 1:
        return False
    gaps = [b - a for a, b in zip([-1, *at], at, strict=False)]
    return len(set(gaps)) == 1 and (at[-1] == len(windows) - 1 or not view.log.finished)


def _condition(step: Place | None) -> Place | None:
    """The `if` that decides when to step, where the step stands under one: that is the line to mend."""
    if step is None:
        return None
    source = "".join(linecache.getlines(step.file))
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return step
    best = None
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and node.body[0].lineno <= step.line <= (node.body[-1].end_lineno or 0):
            if best is None or node.lineno > best:
                best = node.lineno
    return Place(step.file, best, step.function, step.through) if best else step


def _list(sizes: list[int], most: int = 10) -> str:
    shown = ", ".join(str(size) for size in sizes[:most])
    return f"{shown}, …" if len(sizes) > most else shown


def losses(view: View) -> Iterator[Finding]:
    """Losses that go backward more than once."""
    seen: set[tuple[bool, Place | None]] = set()
    for window in view.all_windows:
        numbers = window.get("pass_numbers", ())
        for number in numbers:
            event = view.by_pass.get(number)
            earlier = list(event.details.get("again", ()) if event else ())
            counted = [n for n in earlier if n in numbers]
            if event is None or not earlier:
                continue
            before = view.by_pass.get(earlier[0])
            same = before is not None and before.where == event.where
            same_loss = event.details.get("same_root") in earlier
            if not counted and (not same or same_loss):
                continue
            if (same, event.where) in seen:
                continue
            seen.add((same, event.where))
            if same:
                yield finding(
                    "running-loss-backward",
                    "error",
                    event.where,
                    f"This backward() goes through the losses of {times(len(earlier), 'earlier pass')} again: "
                    "the running sum still carries their graphs, so early micro-batches count several times.",
                    "Call backward() on the new loss alone; keep the running sum as a number, total += loss.item().",
                    passes=[*earlier, number],
                )
            else:
                yield finding(
                    "loss-backward-twice",
                    "error",
                    event.where,
                    f"The loss of {before.where if before else 'an earlier backward'} is part of this one, and goes "
                    "backward a second time: its gradient is counted twice.",
                    "Call backward() once on the sum, or the second time only on what is new.",
                    passes=[*earlier, number],
                )


def hooks(view: View) -> Iterator[Finding]:
    """Gradient hooks that are registered again and again."""
    for optimizer, windows in view.windows.items():
        growing = [w for w in windows if w.get("hooks")]
        if len(growing) >= 3 and len(growing) * 2 >= min(len(windows), 12):
            counts = [max(w.get("hooks").values()) for w in growing]
            if counts != sorted(set(counts)):
                continue
            yield finding(
                "hook-registered-every-iteration",
                "error",
                growing[-1].get("hooked_at"),
                f"At the steps of {view.label(optimizer)} a parameter carries {_list(counts)} gradient hooks: each of "
                "them changes the gradient once more.",
                "Register the hook once, before the loop, or remove its handle after each backward().",
                counts=counts[:20],
            )


def schedulers(view: View) -> Iterator[Finding]:
    """Learning-rate schedulers that run on the wrong clock."""
    for optimizer, windows in view.windows.items():
        events = [e for e in view.events if e.kind == "scheduler" and e.details.get("optimizer") == optimizer]
        if not events:
            continue
        one = Counter(e.details.get("which") for e in events).most_common(1)[0][0]
        events = [e for e in events if e.details.get("which") == one]  # several may share the work
        middle = [e for e in events if e.details.get("pending")]
        if len(middle) >= 2 and len(events) > 1.4 * len(windows) and len(middle) * 3 >= len(events):
            yield finding(
                "scheduler-every-micro-batch",
                "warning",
                middle[0].where,
                f"The scheduler stepped {times(len(events), 'time')} for {times(len(windows), 'optimizer step')}, "
                f"{len(middle)} of them in the middle of a window: the learning rate moves too fast.",
                "Call scheduler.step() once per optimizer step, under the same condition.",
                scheduler_steps=len(events),
                optimizer_steps=len(windows),
            )
        after = [e for e in events if e.details.get("after_skip")]
        if after and len(events) * 2 >= len(windows):
            yield finding(
                "scheduler-after-skipped-step",
                "warning",
                after[0].where,
                f"The scaler skipped {times(sum(w.skipped for w in windows), 'step')}, and the scheduler stepped "
                f"after {len(after)} of them: the learning rate moved although the parameters did not.",
                "Step the scheduler only if scaler.get_scale() did not fall in scaler.update().",
                skipped=sum(w.skipped for w in windows),
            )


def means(view: View) -> Iterator[Finding]:
    """Notes on how the losses of a window add up; only a reference can tell for certain."""
    for windows in view.windows.values():
        summed = []
        for window in windows:
            passes = [view.by_pass[n] for n in window.get("pass_numbers", ()) if n in view.by_pass]
            quiet = not window.of("edit") and not window.get("assigned") and not window.get("hooks")
            plain = all(p.details.get("reduction") == "mean" and not p.details.get("gradient") for p in passes)
            if window.micro_batches > 1 and passes and quiet and plain and "reference" not in window.step.details:
                summed.append(window)
        if summed and len(summed) * 2 >= len(windows):
            k = summed[0].micro_batches
            yield finding(
                "loss-not-divided",
                "info",
                summed[0].get("last_pass_at"),
                f"Each of the {k} losses of a window is a mean, and nothing divides by {k}: if they are micro-batches "
                f"of one batch, the gradient is {k} times its gradient.",
                f"Call (loss / {k}).backward(), or weight each loss by its share; a reference= would settle it.",
                window=k,
            )
    for windows in () if view.log.threaded else view.windows.values():
        for window in windows:
            # One call that ran several times, with no backward in between, and then one backward for all.
            number = next(
                (e.number for e in window.of("backward") if e.details["pass"] in window.get("pass_numbers", ())), 0
            )
            since = max((e.number for e in window.of("backward") if e.number < number), default=-1)
            runs = Counter(
                (e.details.get("site"), e.details.get("model"))
                for e in window.of("forward")
                if since < e.number < number and e.details.get("grad")
            )
            forwards = max(runs.values(), default=0)
            if window.passes == 1 and forwards > 1 and not window.get("closure_calls"):
                yield finding(
                    "summed-loss-keeps-graphs",
                    "info",
                    window.get("last_pass_at"),
                    f"{times(forwards, 'forward pass')} and one backward per step: the numbers are right, but the graphs "
                    f"of all {forwards} are in memory at once.",
                    "If these are micro-batches, call backward() after each: that is what makes accumulation save memory.",
                    forwards=forwards,
                )
                break
