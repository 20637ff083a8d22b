"""Where the ledger listens: the few places in torch through which every gradient event passes.

Class attributes and module functions are wrapped while a ledger is open, and put back exactly as they were when the
last one closes. No torch function mode and no dispatch mode: those cost on every operation, and are blind to other
threads. `.grad` itself becomes a property for that time, which is what makes `p.grad = None`, `p.grad.zero_()` and
`p.grad /= 4` visible with the line they stand on, however the code is written.

`torch.compile` sees none of this. Where Dynamo traces one of our wrappers, `is_compiling()` is true and the wrapper is
torch's own function; where it meets one as a frame of its own, that frame runs as it is (`compiled.run_as_it_is`). So
graphs, graph breaks and random numbers are those of a run without a ledger; what is inside a graph is not seen.

A fault of ours must never stop a training run: `State.failed` keeps it for the report and closes that ledger.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections import defaultdict
from collections.abc import Callable
from itertools import chain
from types import FrameType
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import optimizer as _optimizer
from torch.utils.hooks import RemovableHandle

from gradient_ledger import (
    averages,
    blends,
    clocks,
    closelook,
    compiled,
    gradients,
    hooked,
    inside,
    loose,
    memory,
    modes,
    passes,
    places,
    scalers,
    scripted,
    steps,
    surroundings,
    undone,
)
from gradient_ledger.budget import SAMPLES
from gradient_ledger.recorder import Recorder

_MISSING = object()
_lock = threading.RLock()
_open: list[Recorder] = []
_undo: list[Callable[[], None]] = []
_made: dict[tuple[Any, str], tuple[Any, Any]] = {}
"""Wrappers of torch's own functions, by what they wrap: code compiled under one ledger is still good under the next."""

is_compiling = torch.compiler.is_compiling
is_grad_enabled = torch.is_grad_enabled


def open_recorder(recorder: Recorder) -> None:
    """Begin to report to `recorder`; the first one puts the taps in."""
    with _lock:
        compiled.tell(_open)  # what was so far is not for the new one
        _open.append(recorder)
        if len(_open) == 1:
            try:
                _install()
            except BaseException:
                _open.remove(recorder)
                _uninstall()
                raise


def close_recorder(recorder: Recorder) -> None:
    """Stop reporting to `recorder`; the last one takes the taps out."""
    with _lock:
        if recorder in _open:
            compiled.tell(_open)
            _open.remove(recorder)
            if not _open:
                _uninstall()


def _uninstall() -> None:
    while _undo:
        _undo.pop()()


def _replace(owner: Any, name: str, make: Callable[[Any], Any]) -> None:
    """Put `make(original)` in place of an attribute, and note how to take it back.

    An attribute that was inherited is deleted again. If somebody else has wrapped ours meanwhile, theirs stays.
    """
    own = vars(owner).get(name, _MISSING)
    theirs = getattr(owner, name) if own is _MISSING else own
    known, ours = _made.get((owner, name), (_MISSING, None))
    if known is not theirs:
        ours = make(theirs)
        if isinstance(ours, property):
            compiled.run_as_it_is(ours.fget, ours.fset, ours.fdel)
        else:
            compiled.run_as_it_is(ours, below=False)
        if (getattr(owner, "__module__", "") or owner.__name__).split(".")[0] == "torch":
            _made[owner, name] = theirs, ours  # a class of the user's must not be kept alive
    setattr(owner, name, ours)

    def undo() -> None:
        if vars(owner).get(name, _MISSING) is not ours:
            return
        if own is _MISSING:
            delattr(owner, name)
        else:
            setattr(owner, name, own)

    _undo.append(undo)


def _tell(recorder: Recorder, act: Callable[..., Any], *arguments: Any) -> Any:
    with recorder.lock:
        recorder.threads.add(threading.get_ident())
        try:
            if recorder.rhythm is not None and act not in _RHYTHMIC:
                recorder.rhythm.leave()
            return act(recorder, *arguments)
        except Exception as error:  # not what stops a script under audit: that is no `Exception`
            recorder.failed(error)
            return None


def _each(act: Callable[..., Any], *arguments: Any) -> None:
    for recorder in _open:
        if not recorder.muted:
            _tell(recorder, act, *arguments)


# ------------------------------------------------------------------ one tap


class Call:
    """A call of something that is tapped."""

    __slots__ = ("args", "failed", "frame", "kwargs", "result")

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType):
        self.args, self.kwargs, self.frame = args, kwargs, frame
        self.result: Any = None
        self.failed = False
        """Whether it raised."""

    @property
    def owner(self) -> Any:
        """For methods, the object."""
        return self.args[0]

    def argument(self, at: int, name: str, default: Any = None) -> Any:
        """One argument, however it was passed."""
        return self.args[at] if len(self.args) > at else self.kwargs.get(name, default)


Before = Callable[[Recorder, Call], Any]
After = Callable[[Recorder, Call, Any], Any]


def tap(
    owner: Any,
    name: str,
    *,
    before: Before | None = None,
    after: After | None = None,
    when: Callable[[Any], bool] | None = None,
) -> None:
    """Tell every open recorder of each call of `owner.name`, before it, after it, or both.

    What `before` returns is handed to `after`, which is called whether or not the call raised, and for the recorders
    that `before` was called for. With `when`, calls are left alone for whose first argument it is false.
    """

    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def tapped(*args: Any, **kwargs: Any) -> Any:
            if is_compiling() or not _open or (when is not None and not when(args[0])):
                return original(*args, **kwargs)
            call = Call(args, kwargs, sys._getframe(1))
            told = []
            for recorder in _open:
                if not recorder.muted:
                    told.append((recorder, _tell(recorder, before, call) if before is not None else None))
            call.failed = True
            try:
                call.result = original(*args, **kwargs)
                call.failed = False
                return call.result
            finally:
                if after is not None:
                    for recorder, token in told:
                        if not recorder.finished:
                            _tell(recorder, after, call, token)

        return tapped

    _replace(owner, name, make)


# ------------------------------------------------------------------ what is tapped


def _install() -> None:
    compiled.prepare()
    _undo.append(compiled.keep_rules())
    _undo.append(scripted.see_through())
    _tap_grad()
    tap(torch.autograd, "backward", before=_backward_begins, after=_backward_ends)
    tap(torch.autograd, "grad", before=_gradients_asked, after=_gradients_taken)
    for owner in (torch.optim.Optimizer, nn.Module):
        tap(owner, "zero_grad", before=_clear_begins, after=_clear_ends)
    tap(torch.optim.Optimizer, "__init__", after=_done(_optimizer_made))
    tap(torch.optim.Optimizer, "state_dict", before=_before(lambda *of: surroundings.optimizer_saved(*of)))
    tap(torch.optim.Optimizer, "load_state_dict", after=_done(lambda *of: surroundings.optimizer_restored(*of)))
    tap(nn.Module, "__init__", after=_done(lambda *of: surroundings.module_made(*of)))
    tap(nn.Module, "register_parameter", after=_parameter_put)
    _replace(nn.Module, "train", _module_train)
    tap(nn.Module, "eval", before=_before(_put_into_eval))
    tap(nn.Module, "state_dict", after=_snapshot_taken)
    tap(nn.Module, "load_state_dict", before=_load_begins, after=_load_ends)
    _tap_scaler()
    if not compiled.any_graph():  # code that clips, compiled without these, would be compiled once more
        for name, (before, after) in _CLIPS.items():
            tap(torch.nn.utils, name, before=before, after=after)
            tap(torch.nn.utils.clip_grad, name, before=before, after=after)
    for scheduler in _subclasses(torch.optim.lr_scheduler.LRScheduler):
        tap(scheduler, "step", after=_scheduled)
        if "__init__" in vars(scheduler):
            tap(scheduler, "__init__", after=_done(clocks.scheduler_made))
    autocast = torch.amp.autocast_mode.autocast
    tap(autocast, "__enter__", after=lambda recorder, call, _: surroundings.autocast_entered(recorder))
    tap(autocast, "__exit__", before=lambda recorder, call: surroundings.autocast_left(recorder))
    tap(torch, "clear_autocast_cache", after=lambda recorder, call, _: surroundings.autocast_cache_cleared(recorder))
    loader = torch.utils.data.DataLoader
    tap(loader, "__iter__", before=_before(lambda *of: surroundings.loader_started(*of)), after=_loader_runs)
    tap(Tensor, "register_hook", before=_hook_registered)
    tap(Tensor, "register_post_accumulate_grad_hook", before=_hook_registered)
    tap(nn.Module, "register_full_backward_hook", before=_hook_registered)
    tap(nn.Module, "register_full_backward_pre_hook", before=_hook_registered)
    tap(torch.optim.swa_utils.AveragedModel, "update_parameters", before=_averaged)
    for cell in (nn.RNNCell, nn.GRUCell, nn.LSTMCell):
        tap(cell, "forward", before=_cell_runs, after=_cell_ran)
    tap(torch.distributions.Normal, "sample", after=_drawn)
    tap(torch.distributions.Normal, "rsample", after=_drawn_moving)
    tap(torch.distributions.Normal, "log_prob", before=_log_probability_taken)
    for module in (torch.distributions, torch.distributions.kl):
        tap(module, "kl_divergence", before=_divergence_taken)
    plain = nn.Module.__call__
    _replace(nn.Module, "__call__", _module_call)
    _undo.append(compiled.take_for_the_plain_call(nn.Module.__call__, plain))
    for hooks, handle, hook in _STEP_HOOKS:
        hooks[handle.id] = hook
        _undo.append(handle.remove)
    for kind in _subclasses(torch.optim.Optimizer):
        _tap_step(kind)


def _tap_scaler() -> None:
    """Scalers that are switched off do nothing, and are left alone."""
    scaler, enabled = torch.amp.GradScaler, torch.amp.GradScaler.is_enabled
    tap(scaler, "scale", after=_scaled, when=enabled)
    tap(scaler, "unscale_", before=_unscale_begins, after=_unscale_ends, when=enabled)
    tap(scaler, "step", before=_scaler_step_begins, after=_scaler_step_ends, when=enabled)
    tap(scaler, "update", after=_done(lambda *of: scalers.updated(*of)), when=enabled)


def _put_into_eval(recorder: Recorder, module: nn.Module, frame: FrameType) -> None:
    if recorder.begun or recorder.withdrawn or not recorder.progress.steps:
        undone.put_into_eval(recorder, module, frame)
    modes.put_into_eval(recorder, module, frame)


def _snapshot_taken(recorder: Recorder, call: Call, _: Any) -> None:
    if not call.failed and call.kwargs.get("destination") is None:  # else it is a part of a whole
        memory.snapshot_taken(recorder, call.owner, call.result, call.frame)
        if recorder.evaluations:
            modes.saved(recorder, call.owner, call.frame)


def _load_begins(recorder: Recorder, call: Call) -> bool:
    return memory.load_begins(recorder, call.owner, call.argument(1, "state_dict"), call.frame)


def _load_ends(recorder: Recorder, call: Call, foreign: Any) -> None:
    if not call.failed:
        memory.load_ends(recorder, call.owner, bool(foreign), call.frame)


def _before(act: Callable[[Recorder, Any, FrameType], Any]) -> Before:
    """`act(recorder, object, frame)` before the call."""
    return lambda recorder, call: act(recorder, call.owner, call.frame)


def _done(act: Callable[[Recorder, Any, FrameType], Any]) -> After:
    """`act(recorder, object, frame)` after the call, if it did not raise."""
    return lambda recorder, call, _: None if call.failed else act(recorder, call.owner, call.frame)


_BACKWARD = ("tensors", "grad_tensors", "retain_graph", "create_graph")


def _backward_begins(recorder: Recorder, call: Call) -> Any:
    args = call.args
    if len(args) < 4:  # else it is `loss.backward()` that calls
        args = tuple([call.argument(at, name) for at, name in enumerate(_BACKWARD)])
    roots, gradient, retain, create = args[:4]
    return passes.backward_begins(recorder, roots, gradient, bool(retain or create), call.frame)


def _backward_ends(recorder: Recorder, call: Call, begun: Any) -> None:
    if begun is not None:
        passes.backward_ends(recorder, begun)


def _gradients_asked(recorder: Recorder, call: Call) -> list[Tensor]:
    """What `module.parameters()` is going to give: afterwards it is used up."""
    frame = getattr(call.argument(1, "inputs"), "gi_frame", None)
    if frame is None or frame.f_code is not nn.Module.parameters.__code__:
        return []
    return list(frame.f_locals["self"].parameters(frame.f_locals["recurse"]))


def _gradients_taken(recorder: Recorder, call: Call, given: list[Tensor] | None) -> None:
    inputs = given or call.argument(1, "inputs")
    inputs = (inputs,) if isinstance(inputs, Tensor) else inputs
    if recorder.loose:
        loose.used(recorder, inputs)
    if not call.failed and not call.argument(4, "create_graph"):
        passes.gradients_taken(recorder, call.argument(0, "outputs"), inputs, call.frame)
    elif not call.failed:
        passes.gradients_made(recorder, inputs, call.result)


def _clear_begins(recorder: Recorder, call: Call) -> Any:
    return gradients.clear_begins(recorder, call.owner, call.frame)


def _clear_ends(recorder: Recorder, call: Call, before: Any) -> None:
    gradients.clear_ends(recorder, call.owner, before)


def _clip_called(name: str) -> Before:
    limit = "max_norm" if name == "clip_grad_norm_" else "clip_value"
    return lambda recorder, call: gradients.clip_called(
        recorder, call.argument(0, "parameters"), name, call.argument(1, limit), call.frame
    )


def _clip_ends(name: str) -> After:
    return lambda recorder, call, before: gradients.clip_ends(recorder, name, before)


_CLIPS = {name: (_clip_called(name), _clip_ends(name)) for name in ("clip_grad_norm_", "clip_grad_value_")}


def _scaled(recorder: Recorder, call: Call, _: Any) -> None:
    if not call.failed:
        scalers.loss_scaled(recorder, call.owner, call.argument(1, "outputs"), call.result, call.frame)


def _unscale_begins(recorder: Recorder, call: Call) -> None:
    scalers.unscaled(recorder, call.argument(1, "optimizer"), call.frame)


def _unscale_ends(recorder: Recorder, call: Call, _: Any) -> None:
    scalers.unscaling_ends(recorder, call.argument(1, "optimizer"))


def _scaler_step_begins(recorder: Recorder, call: Call) -> Any:
    return steps.scaler_step_begins(recorder, call.owner, call.argument(1, "optimizer"), call.frame)


def _scaler_step_ends(recorder: Recorder, call: Call, before: Any) -> None:
    steps.scaler_step_ends(recorder, call.argument(1, "optimizer"), before, call.failed)


def _scheduled(recorder: Recorder, call: Call, _: Any) -> None:
    # Schedulers step once as they are made, and composed ones step their parts: neither is the user's doing.
    if not call.failed and call.frame.f_code.co_filename != torch.optim.lr_scheduler.__file__:
        surroundings.scheduled(recorder, call.owner, call.frame, call.argument(1, "epoch") is not None)


def _hook_registered(recorder: Recorder, call: Call) -> None:
    hooked.registered(recorder, call.owner, call.argument(1, "hook"), call.frame)


def _drawn(recorder: Recorder, call: Call, _: Any) -> None:
    if not call.failed:
        inside.drawn(recorder, call.owner, call.result, call.frame)


def _drawn_moving(recorder: Recorder, call: Call, _: Any) -> None:
    if not call.failed:
        inside.drawn_moving(recorder, call.result, call.frame)


def _log_probability_taken(recorder: Recorder, call: Call) -> None:
    inside.log_probability_taken(recorder, call.owner)


def _divergence_taken(recorder: Recorder, call: Call) -> None:
    inside.divergence_taken(recorder, call.argument(0, "p"))


def _cell_runs(recorder: Recorder, call: Call) -> None:
    inside.cell_runs(recorder, call.owner, call.argument(2, "hx"), call.frame)


def _cell_ran(recorder: Recorder, call: Call, _: Any) -> None:
    if not call.failed:
        inside.cell_ran(recorder, call.owner, call.result)


def _parameter_put(recorder: Recorder, call: Call, _: Any) -> None:
    if not call.failed:
        surroundings.parameter_put(recorder, call.owner, call.argument(2, "param"), call.frame)


def _loader_runs(recorder: Recorder, call: Call, _: Any) -> None:
    if not call.failed:
        surroundings.loader_runs(recorder, call.owner, call.result)


def _averaged(recorder: Recorder, call: Call) -> None:
    place = places.user_place(call.frame)
    told = averages.average_updated(recorder, call.frame).fields
    told |= {"again": averages.is_again(recorder, call.owner), "update_at": place}
    # One that is updated every so many steps would seldom fall into a closer look.
    if recorder.close_look is None and recorder.budget.may_look(("averaged", place), 2 * SAMPLES):
        recorder.averaging = place
        closelook.begin(recorder, several_passes=False)
        recorder.averaging = None
    for listener in recorder.close_look.listeners if recorder.close_look is not None else ():
        if isinstance(listener, blends.Blends):
            listener.averaged(call.owner, call.argument(1, "model"), call.frame)


def _subclasses(kind: type) -> list[type]:
    """A class and all below it with a `step` of their own, those of installed libraries that are loaded included."""
    found: list[type] = []
    waiting = [kind]
    while waiting:
        one = waiting.pop()
        if "step" in vars(one) and one not in found:
            found.append(one)
        waiting += one.__subclasses__()
    return found


def _optimizer_made(recorder: Recorder, optimizer: Any, frame: FrameType) -> None:
    _tap_step(type(optimizer))
    surroundings.optimizer_made(recorder, optimizer, frame)


# ------------------------------------------------------------------ `.grad` itself, one of the two hot paths


def _tap_grad() -> None:
    base: Any = torch._C.TensorBase.grad
    get, put, delete = base.__get__, base.__set__, base.__delete__
    kinds, kind_of, frame_at, thread_at = places.kinds, places.kind_of, sys._getframe, threading.get_ident
    quiet, clip = places.QUIET, places.CLIP
    # Enough for a read, which happens eight times a parameter and step: what an export of a graph reads does no harm.
    is_traced = torch.compiler.is_dynamo_compiling

    def read(self: Tensor) -> Tensor | None:
        grad: Tensor | None = get(self)
        if is_traced():
            return grad
        frame = frame_at(1)
        file = frame.f_code.co_filename
        kind = kinds.get(file)
        if kind == quiet:
            return grad
        if kind is None:
            kind = kind_of(file)
            if kind == quiet:
                return grad
        for recorder in _open:
            if recorder.muted:
                continue
            if kind == clip and (clipping := recorder.journal.clipping) is not None:
                known = recorder.books.by_id.get(id(self))
                if known is not None and known.joined is clipping:
                    continue  # clipping reads every gradient several times
            with recorder.lock:
                try:
                    gradients.read(recorder, self, grad, frame, kind)
                except Exception as error:
                    recorder.failed(error)
        return grad

    def write(self: Tensor, value: Tensor | None) -> None:
        if is_compiling():
            put(self, value)
            return
        for recorder in _open:
            if not recorder.muted:
                with recorder.lock:
                    recorder.threads.add(thread_at())
                    try:
                        gradients.write(recorder, self, value, frame_at(1))
                    except Exception as error:
                        recorder.failed(error)
        put(self, value)

    def remove(self: Tensor) -> None:
        if not is_compiling():
            _each(gradients.write, self, None, frame_at(1))
        delete(self)

    _replace(Tensor, "grad", lambda _: property(read, write, remove, base.__doc__))
    # Those whose result torch does not turn into a subclass of Tensor: for parameters that are of one.
    as_they_are = torch.overrides.get_default_nowrap_functions()
    getter: Any = vars(Tensor)["grad"].__get__
    as_they_are.add(getter)
    _undo.append(lambda: as_they_are.discard(getter))


# ------------------------------------------------------------------ calls of modules, the other one


def _module_call(original: Callable[..., Any]) -> Callable[..., Any]:
    """Not a global hook: with one, Dynamo traces every module another way, and `model.compile()` never calls it."""
    frame_at, calls_forward = sys._getframe, surroundings.CALLS_FORWARD

    @functools.wraps(original)
    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not is_compiling():
            for recorder in _open:
                if recorder.muted:
                    continue
                books = recorder.books
                entry = books.modules.get(id(self))
                quiet = entry if entry is not None and entry.quiet and entry.ref() is self else None
                if quiet is not None:
                    if self.training or is_grad_enabled():
                        quiet.calls += 1
                    else:
                        quiet.judged += 1
                    if quiet.leads is None or getattr(frame_at(1).f_back, "f_code", None) is calls_forward:
                        continue
                elif entry is None and books.foreign.get(id(self)) is self:
                    continue
                with recorder.lock:
                    try:
                        if quiet is not None:
                            surroundings.lead(recorder, quiet, frame_at(1))
                        else:
                            surroundings.forward(recorder, self, frame_at(1))
                    except Exception as error:
                        recorder.failed(error)
        return original(self, *args, **kwargs)

    return __call__


def _module_train(original: Callable[..., Any]) -> Callable[..., Any]:
    """Nearly nothing, and only where a model was evaluated or is in train mode as a whole: `train()` goes through every
    module of a model."""
    frame_at, kind_of, user, quiet = sys._getframe, places.kind_of, places.USER, places.QUIET

    @functools.wraps(original)
    def train(self: Any, mode: bool = True) -> Any:
        if _open and not is_compiling():
            frame, evals = frame_at(1), False
            if kind_of(frame.f_code.co_filename) != quiet:
                frame, evals = _who_asks(frame, self)
            for recorder in _open:
                if recorder.muted:
                    continue
                if evals and not mode:
                    _tell(recorder, _put_into_eval, self, frame)
                elif mode and kind_of(frame.f_code.co_filename) == user:
                    _tell(recorder, undone.put_into_train, self, frame)
                if recorder.evaluations:
                    if mode:
                        _tell(recorder, modes.put_into_train, self)
                    elif not evals and kind_of(frame.f_code.co_filename) == user:  # not by `eval()`, nor for a part
                        _tell(recorder, modes.put_by_hand, self, frame)
        return original(self, mode)

    return train


def _who_asks(frame: FrameType, module: nn.Module) -> tuple[FrameType, bool]:
    """Who called `train()` or `eval()` on a module, and whether it was `eval()`, where its class has its own around
    torch's: an `eval()` that calls `train(False)`, as models of Transformers have, is one for the user."""
    asks, evals = frame, False
    while frame.f_back is not None and frame.f_code.co_name in ("train", "eval"):
        if frame.f_locals.get("self") is not module:
            break
        evals = evals or frame.f_code.co_name == "eval"
        if evals or places.kind_of(frame.f_code.co_filename) != places.USER:  # a `train()` of the user's own is told
            asks = frame.f_back
        frame = frame.f_back
    return asks, evals


# ------------------------------------------------------------------ steps


_STEP_CODE = torch.optim.Optimizer.profile_hook_step(lambda self: None).__code__  # type: ignore[no-untyped-call]
"""The code of torch's wrapper around every `step`: frames with it, on the stack, are steps under way."""


def _depth(frame: FrameType | None) -> int:
    """How many steps are under way one inside another: optimizers may call another's step in their own."""
    depth = 0
    while frame is not None:
        depth += frame.f_code is _STEP_CODE
        frame = frame.f_back
    return depth


_announced: dict[int, list[Any]] = defaultdict(list)
"""By thread, the optimizers in whose steps it is and that `_optimizer_step` has told of, the innermost last."""


def _tap_step(kind: type) -> None:
    """Wrap the `step` of an optimizer class that carries torch's hooks by now: one of its kind has been made."""
    with _lock:
        own = vars(kind).get("step")
        if _open and getattr(own, "hooked", False) and not hasattr(own, "gradient_ledger"):
            _replace(kind, "step", _optimizer_step)


def _optimizer_step(original: Callable[..., Any]) -> Callable[..., Any]:
    """The hooks below would do, were it not for Dynamo, which traces them away where it compiles a `step` alone.

    A step that is a frame of its own comes through here first. One that is compiled as part of a larger function
    does not: all that is left of it is the mark of `_step_pre`.
    """

    @functools.wraps(original)
    def step(self: Any, *args: Any, **kwargs: Any) -> Any:
        if is_compiling() or not _open:
            return original(self, *args, **kwargs)
        frame, mine = sys._getframe(1), _announced[threading.get_ident()]
        depth = _depth(frame) + 1
        (_, *rest), kwargs = _step_begins(self, (self, *args), kwargs, frame, depth) or ((self, *args), kwargs)
        before = compiled.ran.step
        mine.append(self)
        try:
            result = original(self, *rest, **kwargs)
        finally:
            mine.pop()
            compiled.ran.step = before
        _each(steps.step_ends, self, depth)
        return result

    step.gradient_ledger = True  # type: ignore[attr-defined]
    return step


def _is_announced(optimizer: Any) -> bool:
    mine = _announced.get(threading.get_ident())
    return bool(mine) and mine is not None and mine[-1] is optimizer


def _step_pre(optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if is_compiling():
        compiled.ran.step = True  # not now, but each time the compiled code runs
        return None
    if not _open or _is_announced(optimizer):
        return None
    frame = sys._getframe(1)
    return _step_begins(optimizer, args, kwargs, frame, _depth(frame))


def _step_begins(optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType, depth: int) -> Any:
    found = None
    for recorder in _open:
        if not recorder.muted:
            new = _tell(recorder, steps.step_begins, optimizer, args, kwargs, frame, depth)
            if new is not None:
                args, kwargs = found = new
    return found


def _step_post(optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    if is_compiling() or not _open or _is_announced(optimizer):
        return
    depth = _depth(sys._getframe(1))
    _each(steps.step_ends, optimizer, depth)


_STEP_HOOKS = tuple(
    (hooks, RemovableHandle(hooks), hook)
    for hooks, hook in (
        (_optimizer._global_optimizer_pre_hooks, _step_pre),
        (_optimizer._global_optimizer_post_hooks, _step_post),
    )
)
"""The places of our two among torch's, the same at each opening: compiled code looks whether they are others."""

_RHYTHMIC: set[Any] = {_backward_begins, _backward_ends, _clear_begins, _clear_ends, steps.step_begins, steps.step_ends}
_RHYTHMIC |= {gradients.write, *chain.from_iterable(_CLIPS.values())}
"""What may be expected where every window repeats the one before; anything else ends that."""

compiled.run_as_it_is(_each, _tell, _tap_step, _depth, _is_announced, _step_begins, _step_pre, _step_post)
compiled.run_as_it_is(surroundings.forward)
