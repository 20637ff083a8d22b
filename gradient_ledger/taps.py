"""Where the ledger listens: the few places in torch through which every gradient event passes.

Class attributes and module functions are wrapped while a ledger is open, and put back exactly as they were when the
last one closes. No torch function mode and no dispatch mode: those cost on every operation, and are blind to other
threads. `.grad` itself becomes a property for that time, which is what makes `p.grad = None`, `p.grad.zero_()` and
`p.grad /= 4` visible with the line they stand on, however the code is written.

A fault of ours must never stop a training run: `State.failed` keeps it for the report and closes that ledger.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
import warnings
from collections.abc import Callable
from types import FrameType
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.module import register_module_forward_pre_hook
from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

from gradient_ledger import gradients, passes, places, steps, surroundings
from gradient_ledger.recorder import Recorder

_MISSING = object()
_lock = threading.RLock()
_open: list[Recorder] = []
_undo: list[Callable[[], None]] = []

is_compiling = torch.compiler.is_compiling
is_grad_enabled = torch.is_grad_enabled


class Stop(BaseException):
    """Raised by an audit from inside a step to end the script. Not a fault, so not an `Exception`."""


def open_recorder(recorder: Recorder) -> None:
    """Begin to report to `recorder`; the first one puts the taps in."""
    with _lock:
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
    ours = make(getattr(owner, name) if own is _MISSING else own)
    setattr(owner, name, ours)

    def undo() -> None:
        if vars(owner).get(name, _MISSING) is not ours:
            return
        if own is _MISSING:
            delattr(owner, name)
        else:
            setattr(owner, name, own)

    _undo.append(undo)


def _each(call: Callable[[Recorder], Any]) -> None:
    for recorder in _open:
        if not recorder.finished and not recorder.muted:
            _one(recorder, call)


def _one(recorder: Recorder, call: Callable[[Recorder], Any]) -> None:
    with recorder.lock:
        recorder.threads.add(threading.get_ident())
        try:
            call(recorder)
        except Exception as error:  # not Stop, which is no fault
            recorder.failed(error)


# ------------------------------------------------------------------ what is wrapped


def _install() -> None:
    _tap_grad()
    _replace(torch.autograd, "backward", _backward)
    for owner in (torch.optim.Optimizer, nn.Module):
        _replace(owner, "zero_grad", _zero_grad)
    _replace(torch.optim.Optimizer, "__init__", _optimizer_init)
    _replace(nn.Module, "__init__", _module_init)
    for name, make in (("scale", _scale), ("unscale_", _unscale), ("step", _scaler_step), ("update", _scaler_update)):
        _replace(torch.amp.GradScaler, name, make)
    for scheduler in _scheduler_classes():
        _replace(scheduler, "step", _scheduler_step)
    _replace(torch.amp.autocast_mode.autocast, "__enter__", _autocast_enter)
    _replace(torch.amp.autocast_mode.autocast, "__exit__", _autocast_exit)
    _replace(torch.utils.data.DataLoader, "__iter__", _loader_iter)
    hooking: tuple[tuple[type, str], ...] = (
        (Tensor, "register_hook"),
        (Tensor, "register_post_accumulate_grad_hook"),
        (nn.Module, "register_full_backward_hook"),
        (nn.Module, "register_full_backward_pre_hook"),
    )
    for kind, name in hooking:
        _replace(kind, name, _register_hook)
    _replace(torch, "clear_autocast_cache", _clear_cache)
    _replace(torch, "compile", _compile)
    _silence("Using `torch.compile\\(module\\)` when there are global hooks on modules")  # the hook is ours
    _hide_from_dynamo()
    _undo.append(register_optimizer_step_pre_hook(_step_pre).remove)
    _undo.append(register_optimizer_step_post_hook(_step_post).remove)
    _undo.append(register_module_forward_pre_hook(_forward_pre).remove)


def _tap_grad() -> None:
    base: Any = torch._C.TensorBase.grad
    get, put, delete = base.__get__, base.__set__, base.__delete__
    kinds, kind_of, frame_at, thread_at = places.kinds, places.kind_of, sys._getframe, threading.get_ident
    quiet, clip = places.QUIET, places.CLIP

    def read(self: Tensor) -> Tensor | None:
        grad: Tensor | None = get(self)
        if is_compiling():
            return grad
        frame = frame_at(1)
        file = frame.f_code.co_filename
        kind = kinds.get(file)
        if kind is None:
            kind = kind_of(file)
        if kind != quiet:
            for recorder in _open:
                if not recorder.finished and not recorder.muted:
                    if kind == clip and recorder.clipping is not None:
                        known = recorder.books.by_id.get(id(self))
                        if known is not None and known.joined is recorder.clipping:
                            continue  # clipping reads every gradient several times
                    with recorder.lock:
                        try:
                            gradients.read(recorder, self, grad, frame, kind)
                        except Exception as error:
                            recorder.failed(error)
        return grad

    def write(self: Tensor, value: Tensor | None) -> None:
        for recorder in () if is_compiling() else _open:
            if not recorder.finished and not recorder.muted:
                with recorder.lock:
                    recorder.threads.add(thread_at())
                    try:
                        gradients.write(recorder, self, value, frame_at(1))
                    except Exception as error:
                        recorder.failed(error)
        put(self, value)

    def remove(self: Tensor) -> None:
        frame = frame_at(1)
        _each(lambda recorder: gradients.write(recorder, self, None, frame))
        delete(self)

    _replace(Tensor, "grad", lambda _: property(read, write, remove, base.__doc__))


def _backward(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def backward(
        tensors: Any,
        grad_tensors: Any = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        grad_variables: Any = None,
        inputs: Any = None,
    ) -> Any:
        if is_compiling():
            return original(tensors, grad_tensors, retain_graph, create_graph, grad_variables, inputs)
        frame = sys._getframe(1)
        begun: list[tuple[Recorder, Any]] = []

        def begin(recorder: Recorder) -> None:
            one = passes.backward_begins(
                recorder, tensors, grad_tensors, bool(retain_graph or create_graph), create_graph, frame
            )
            if one is not None:
                begun.append((recorder, one))

        _each(begin)
        try:
            return original(tensors, grad_tensors, retain_graph, create_graph, grad_variables, inputs)
        finally:
            for recorder, one in begun:
                _one(recorder, lambda r, one=one: passes.backward_ends(r, one))  # type: ignore[misc]

    return backward


def _zero_grad(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def zero_grad(self: Any, *args: Any, **kwargs: Any) -> Any:
        if is_compiling():
            return original(self, *args, **kwargs)
        frame = sys._getframe(1)
        begun: list[tuple[Recorder, Any]] = []
        _each(lambda recorder: begun.append((recorder, gradients.clear_begins(recorder, self, frame))))
        try:
            return original(self, *args, **kwargs)
        finally:
            for recorder, before in begun:
                _one(recorder, lambda r, before=before: gradients.clear_ends(r, self, before))  # type: ignore[misc]

    return zero_grad


def _optimizer_init(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        if not is_compiling():
            frame = sys._getframe(1)
            _each(lambda recorder: surroundings.optimizer_made(recorder, self, frame))

    return __init__


def _module_init(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        if not is_compiling():
            frame = sys._getframe(1)
            _each(lambda recorder: surroundings.module_made(recorder, self, frame))

    return __init__


def _scale(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def scale(self: Any, outputs: Any) -> Any:
        result = original(self, outputs)
        if self.is_enabled() and not is_compiling():
            _each(lambda recorder: surroundings.loss_scaled(recorder, result))
        return result

    return scale


def _unscale(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def unscale_(self: Any, optimizer: Any) -> Any:
        frame = sys._getframe(1)
        watched = self.is_enabled() and not is_compiling()
        if watched:
            _each(lambda recorder: surroundings.unscaled(recorder, optimizer, frame))
        result = original(self, optimizer)
        if watched:
            _each(lambda recorder: surroundings.unscaling_ends(recorder, optimizer))
        return result

    return unscale_


def _scaler_step(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def step(self: Any, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        if not self.is_enabled() or is_compiling():
            return original(self, optimizer, *args, **kwargs)
        frame = sys._getframe(1)
        begun: list[tuple[Recorder, Any]] = []
        _each(lambda recorder: begun.append((recorder, steps.scaler_step_begins(recorder, self, optimizer, frame))))
        failed = True
        try:
            result = original(self, optimizer, *args, **kwargs)
            failed = False
            return result
        finally:
            for recorder, before in begun:
                _one(recorder, lambda r, before=before: steps.scaler_step_ends(r, optimizer, before, failed))  # type: ignore[misc]

    return step


def _scaler_update(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def update(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(self, *args, **kwargs)
        if self.is_enabled() and not is_compiling():
            frame = sys._getframe(1)
            _each(lambda recorder: surroundings.scaler_updated(recorder, self, frame))
        return result

    return update


def _scheduler_classes() -> list[type]:
    """Every scheduler class with a `step` of its own, those of installed libraries that are loaded included."""
    found: list[type] = []
    waiting: list[type] = [torch.optim.lr_scheduler.LRScheduler]
    while waiting:
        one = waiting.pop()
        if "step" in vars(one) and one not in found:
            found.append(one)
        waiting += one.__subclasses__()
    return found


def _scheduler_step(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def step(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(self, *args, **kwargs)
        if is_compiling():
            return result
        frame = sys._getframe(1)
        # Schedulers step once as they are made, and composed ones step their parts: neither is the user's doing.
        if not frame.f_code.co_filename.endswith("lr_scheduler.py"):
            _each(lambda recorder: surroundings.scheduled(recorder, self, frame))
        return result

    return step


def _autocast_enter(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def __enter__(self: Any) -> Any:
        result = original(self)
        if not is_compiling():
            _each(surroundings.autocast_entered)
        return result

    return __enter__


def _autocast_exit(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def __exit__(self: Any, *exc: Any) -> Any:
        if not is_compiling():
            _each(surroundings.autocast_left)
        return original(self, *exc)

    return __exit__


def _loader_iter(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def __iter__(self: Any) -> Any:
        frame = sys._getframe(1)
        _each(lambda recorder: surroundings.loader_started(recorder, frame))
        return original(self)

    return __iter__


def _register_hook(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def register(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not is_compiling():
            frame = sys._getframe(1)
            _each(lambda recorder: surroundings.hook_registered(recorder, self, frame))
        return original(self, *args, **kwargs)

    return register


def _clear_cache(original: Callable[[], None]) -> Callable[[], None]:
    @functools.wraps(original)
    def clear_autocast_cache() -> None:
        original()
        if not is_compiling():
            _each(surroundings.autocast_cache_cleared)

    return clear_autocast_cache


def _compile(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def compile(*args: Any, **kwargs: Any) -> Any:
        import torch._dynamo.trace_rules  # noqa: F401  torch.compile would import it now

        _hide_from_dynamo()
        return original(*args, **kwargs)

    return compile


def _silence(message: str) -> None:
    """Keep one warning from the user, who has not caused it."""
    warnings.filterwarnings("ignore", message=message)
    added = warnings.filters[0]

    def undo() -> None:
        if added in warnings.filters:
            warnings.filters.remove(added)  # type: ignore[attr-defined]
            warnings._filters_mutated()  # type: ignore[attr-defined]

    _undo.append(undo)


def _hide_from_dynamo() -> None:
    """Have compiled code call our functions as they are: what they do must happen each time, not once while tracing."""
    rules: Any = sys.modules.get("torch._dynamo.trace_rules")
    here = os.path.dirname(os.path.abspath(__file__)) + os.sep
    skipped = getattr(rules, "SKIP_DIRS", None)
    if skipped is None or here in skipped or not hasattr(rules, "_recompile_re"):
        return
    skipped.append(here)
    rules._recompile_re()

    def undo() -> None:
        if here in skipped:
            skipped.remove(here)
            rules._recompile_re()

    _undo.append(undo)


# ------------------------------------------------------------------ torch's own hooks

_STEP_CODE = torch.optim.Optimizer.profile_hook_step(lambda self: None).__code__  # type: ignore[no-untyped-call]
"""The code of torch's wrapper around every `step`: frames with it, on the stack, are steps under way."""


def _outermost(frame: FrameType | None) -> bool:
    """Whether only one step is under way: optimizers that call another's step inside their own are one step."""
    depth = 0
    while frame is not None and depth < 2:
        depth += frame.f_code is _STEP_CODE
        frame = frame.f_back
    return depth < 2


def _step_pre(optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if is_compiling():
        return None
    frame = sys._getframe(1)
    if not _open or not _outermost(frame):
        return None
    arguments: list[Any] = [args, kwargs, False]

    def begin(recorder: Recorder) -> None:
        new = steps.step_begins(recorder, optimizer, arguments[0], arguments[1], frame)
        if new is not None:
            arguments[:] = [*new, True]

    _each(begin)
    return tuple(arguments[:2]) if arguments[2] else None


def _step_post(optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    if not is_compiling() and _open and _outermost(sys._getframe(1)):
        _each(lambda recorder: steps.step_ends(recorder, optimizer))


def _forward_pre(module: nn.Module, inputs: tuple[Any, ...]) -> None:
    if is_compiling():
        return
    for recorder in _open:
        if recorder.finished or recorder.muted:
            continue
        entry = recorder.books.modules.get(id(module))
        if entry is not None and entry.quiet and entry.ref() is module:
            if module.training or is_grad_enabled():
                entry.calls += 1
            continue
        with recorder.lock:
            try:
                surroundings.forward(recorder, module, sys._getframe(1))
            except Exception as error:
                recorder.failed(error)
