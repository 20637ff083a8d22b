"""`gradient-ledger train.py`: run a training script unchanged under a gradient ledger, and say what it found.

In the course the same command is called `course audit`.

Nothing of torch is imported before the script imports it: what a script sets in its environment beforehand counts.
The ledger opens at that moment, and closes when the script has ended, whatever way it ended.
"""

from __future__ import annotations

import argparse
import atexit
import builtins
import contextlib
import importlib.abc
import importlib.machinery
import io
import os
import runpy
import signal
import sys
import threading
import time
import traceback
import types
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradient_ledger.errors import UserError

if TYPE_CHECKING:
    from gradient_ledger import GradientLedger

CLEAN, FOUND, COULD_NOT_RUN = 0, 1, 2
"""Exit statuses: no errors found; errors found; the script could not be run, or never stepped."""

EVERY = 10.0
"""Seconds between two lines of progress on a terminal."""

DESCRIPTION = (
    "Run a training script unchanged and report every gradient mistake seen, with its line, its numbers and its "
    "remedy. The script's own arguments stand behind --. Exit status 0: no errors; 1: errors found; 2: the script "
    "could not be run, or never stepped."
)
BLIND = (
    "What an audit cannot see: losses scaled or averaged wrongly (give --reference), steps meant per micro-batch (give "
    "--window), writes through .data or .numpy() (give --digests), memory, and other processes (audit each rank)."
)


@dataclass(frozen=True)
class Ending:
    """How the script ended."""

    how: str
    """`end`, `exit`, `stopped` (by --steps), `interrupted`, `terminated`, `crash` or `unreadable`."""
    message: str = ""
    trace: str = ""
    status: int = 0
    """The exit status the script itself would have had."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of an audit; what stands behind `--` goes to the script."""
    parser.usage = (
        f"{parser.prog} [-m] [--steps N] [--window K] [--reference [FILE:]NAME] [--digests] [--json [--events]]\n"
        f"{' ' * len('usage: ' + parser.prog)} [--plot PNG] SCRIPT -- [SCRIPT ARGUMENTS]"
    )
    parser.epilog = f"What stands behind -- goes to the script unchanged: {parser.prog} train.py --steps 20 -- --lr 0.1"
    parser.add_argument("script", metavar="SCRIPT", help="a Python file, or with -m the name of a module")
    parser.add_argument("-m", dest="module", action="store_true", help="SCRIPT is a module's name, as after python -m")
    parser.add_argument("--steps", type=_positive, metavar="N", help="stop the script after N optimizer steps")
    parser.add_argument("--window", type=_positive, metavar="K", help="micro-batches meant per optimizer step")
    parser.add_argument(
        "--reference",
        metavar="[FILE:]NAME",
        help="a function of the script, or of another file, that is called before each step and returns "
        "{parameter name: gradient to be used}",
    )
    parser.add_argument(
        "--digests", action="store_true", help="also find writes that leave no trace; reads all gradients"
    )
    parser.add_argument("--json", action="store_true", help="print JSON alone; what the script prints goes to stderr")
    parser.add_argument("--events", action="store_true", help="with --json: every event too")
    parser.add_argument("--plot", type=Path, metavar="PNG", help="also write the timeline as a picture")


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def audit(options: argparse.Namespace, arguments: Sequence[str], *, own_process: bool = False) -> int:
    """Run the script with `arguments`, print the report, return the exit status.

    With `own_process`, nothing but the audit happens in this process: what the script leaves for its end, such as
    functions registered with atexit, still finds its `__main__` and prints beside the JSON, not into it.
    """
    report_to, restore = _streams(options.json)
    if own_process:
        atexit.register(restore)
    one = _Audit(options, list(arguments), report_to)
    try:
        return one.run()
    except UserError as error:
        if not options.json:
            raise
        return one.could_not(Ending("unreadable"), str(error))
    finally:
        if not own_process:
            one.put_back()
            restore()


def _streams(json: bool) -> tuple[io.TextIOBase | Any, Callable[[], None]]:
    """Where the report goes. With --json, everything else that is printed, by children too, goes to stderr."""
    if not json:
        return sys.stdout, lambda: None
    sys.stdout.flush()
    try:
        kept = os.dup(1)
        os.dup2(2, 1)
    except OSError:  # no real file behind it
        return sys.stdout, lambda: None
    out = os.fdopen(os.dup(kept), "w", encoding="utf-8")

    def restore() -> None:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)
        out.close()

    return out, restore


class _Audit:
    """One run of one script."""

    def __init__(self, options: argparse.Namespace, arguments: list[str], out: Any):
        self.options = options
        self.arguments = arguments
        self.out = out
        self.ledger: GradientLedger | None = None
        self.main: types.ModuleType | None = None
        self.reference: Any = None
        self.next_line = time.monotonic() + EVERY
        self.reported = False
        self.stopped = 0
        self.pid = os.getpid()
        self.former_main = sys.modules.get("__main__")
        self.error: BaseException | None = None
        self.reference_fault = ""
        self.own_fault = ""
        self.reference_from = "", ""
        self.real_exit = os._exit

    def run(self) -> int:
        target = self._target()
        self._look_at_options()
        with self._listening(), self._own_exit(), self._quiet_threads():
            ending = self._execute(target)
        if os.getpid() != self.pid:  # a child the script has forked: it ends as it would have ended
            sys.stdout.flush()
            os._exit(ending.status)
        return self._close_and_report(ending)

    def put_back(self) -> None:
        """Give the process its own `__main__` again."""
        if self.former_main is not None:
            sys.modules["__main__"] = self.former_main

    def _look_at_options(self) -> None:
        """Faults of the command line that can be seen beforehand; paths count from where the user stands."""
        options = self.options
        if options.events and not options.json:
            raise UserError("--events belongs to --json: without it the events are not printed")
        if options.plot is not None:
            options.plot = options.plot.absolute()
        file, _, name = (options.reference or "").rpartition(":")
        if file and not Path(file).is_file():
            raise UserError(f"--reference {options.reference}: there is no file {file} here")
        self.reference_from = os.path.abspath(file) if file else "", name

    # ------------------------------------------------------------------ the script

    def _target(self) -> Path | str:
        name = self.options.script
        if self.options.module:
            return str(name)
        path = Path(name)
        if path.suffix == ".ipynb":
            raise UserError(
                f"{name} is a notebook: audit a Python file, or open the notebook and train inside "
                "`with GradientLedger() as ledger:` (from gradient_ledger)"
            )
        if path.is_dir():
            raise UserError(f"{name} is a folder: give a Python file, or `-m NAME` for a module")
        if not path.is_file():
            raise UserError(f"there is no file {name} here: give the path of the training script")
        return path.absolute()

    def _execute(self, target: Path | str) -> Ending:
        arguments, words, path, entries = sys.argv, list(sys.argv), sys.path, list(sys.path)
        try:
            code, self.main = _load(target)
            shown = str(self.main.__dict__["__file__"]) if self.options.module else self.options.script
            sys.argv = [shown, *self.arguments]
            here = str(target.resolve().parent) if isinstance(target, Path) else os.getcwd()
            sys.path[:] = [here, *entries[1:]]
            sys.modules["__main__"] = self.main
            before = set(threading.enumerate())
            with _terminable():
                try:
                    exec(code, self.main.__dict__)
                finally:
                    if os.getpid() == self.pid and not self.stopped and not isinstance(sys.exc_info()[1], _Terminated):
                        _join_threads(before)
            return Ending("stopped" if self.stopped else "end")
        except SystemExit as error:
            status = error.code if isinstance(error.code, int) else int(error.code is not None)
            return Ending("exit", "" if error.code in (None, 0) else f"with {error.code!r}", status=status)
        except KeyboardInterrupt:
            return Ending("interrupted")
        except _Terminated:
            return Ending("terminated", status=128 + signal.SIGTERM)
        except _CannotLoad as error:
            return Ending("unreadable", str(error))
        except BaseException as error:
            if type(error).__name__ == "Stop" and type(error).__module__ == "gradient_ledger.taps":
                return Ending("stopped")
            self.error = error
            return Ending("crash", f"{type(error).__name__}: {error}", _trimmed(error), status=1)
        finally:
            sys.argv, sys.path = arguments, path
            sys.argv[:], sys.path[:] = words, entries

    # ------------------------------------------------------------------ the ledger

    @contextlib.contextmanager
    def _listening(self) -> Iterator[None]:
        """Open the ledger as soon as torch has been imported."""
        if "torch" in sys.modules:
            self._open()
            yield
            return
        finder = _AfterTorch(self._open)
        sys.meta_path.insert(0, finder)
        try:
            yield
        finally:
            if finder in sys.meta_path:
                sys.meta_path.remove(finder)

    def _open(self) -> None:
        try:
            self._open_ledger()
        except Exception:  # ours, not the script's: it must run on, and the report must say whose fault it was
            self.ledger, self.own_fault = None, traceback.format_exc()

    def _open_ledger(self) -> None:
        from gradient_ledger import GradientLedger
        from gradient_ledger.places import claim

        if self.main is not None and self.main.__dict__.get("__file__"):
            claim(self.main.__dict__["__file__"])
        options = self.options
        reference = self._reference if options.reference else None
        self.ledger = GradientLedger(window=options.window, reference=reference, digests=options.digests)
        self.ledger.on_step(self._stepped)
        self.ledger.__enter__()

    def _reference(self) -> Any:
        if self.reference is None:
            file, name = self.reference_from
            found = runpy.run_path(file) if file else (self.main.__dict__ if self.main else {})
            self.reference = found.get(name)
            if not callable(self.reference):
                self.reference_fault = f"{os.path.basename(file) or 'the script'} has no function named {name}"
                raise RuntimeError(self.reference_fault)
        return self.reference()

    def _stepped(self, steps: int) -> None:
        if os.getpid() != self.pid:
            return  # a forked child trains on its own account
        if self.options.steps and steps >= self.options.steps:
            from gradient_ledger.taps import Stop

            self.stopped += 1
            if self.stopped > 3:  # the script swallows every exception: only a hard end is left
                status = self._close_and_report(Ending("stopped"))
                sys.stdout.flush()
                self.out.flush()
                self.real_exit(status)
            raise Stop(f"{steps} steps")
        if time.monotonic() > self.next_line:
            self.next_line = time.monotonic() + EVERY
            if sys.stderr.isatty():
                print(f"gradient-ledger: {steps} steps so far", file=sys.stderr)

    def _close_and_report(self, ending: Ending) -> int:
        """Both, whatever goes wrong in them: a fault of ours must not look like a finding."""
        try:
            if self.ledger is not None:
                self._close(ending)
            return self._report(ending)
        except Exception:
            self.own_fault = traceback.format_exc()
            return self._report(ending)

    @contextlib.contextmanager
    def _quiet_threads(self) -> Iterator[None]:
        """A thread that is stopped by --steps ends without a word."""
        usual = threading.excepthook

        def hook(arguments: Any) -> None:
            if arguments.exc_type.__name__ != "Stop" or not self.stopped:
                usual(arguments)

        threading.excepthook = hook
        try:
            yield
        finally:
            threading.excepthook = usual

    def _close(self, ending: Ending) -> None:
        assert self.ledger is not None
        error = self.error
        if ending.how in ("stopped", "interrupted"):
            self.ledger.cut_short()
        self.ledger.__exit__(type(error) if error else None, error, None)

    @contextlib.contextmanager
    def _own_exit(self) -> Iterator[None]:
        """Report before `os._exit`, which ends the process on the spot. Forked children leave as they please."""
        real = self.real_exit = os._exit

        def leave(status: int) -> None:
            if os.getpid() == self.pid and not self.reported:
                status = self._close_and_report(Ending("exit", f"with os._exit({status})"))
                sys.stdout.flush()
                self.out.flush()
            real(status)

        os._exit = leave  # type: ignore[assignment]
        try:
            yield
        finally:
            os._exit = real

    # ------------------------------------------------------------------ the report

    def _report(self, ending: Ending) -> int:
        self.reported = True
        name = self.options.script
        if ending.how == "unreadable":
            return self.could_not(ending, f"{name} could not be run: {ending.message}")
        if self.own_fault:
            return self.could_not(ending, f"the audit itself failed, please report this:\n{self.own_fault}")
        if self.reference_fault:
            ending = Ending("crash", self.reference_fault)  # its traceback would lead through our frames alone
            return self.could_not(ending, f"{self.reference_fault}: --reference names a function at its top level")
        if self.ledger is None:
            if ending.how == "crash":
                return self.could_not(ending, f"{name} crashed before it imported torch: {ending.message}")
            why = f"it exited {ending.message}".strip() if ending.how == "exit" else "there is nothing to audit"
            return self.could_not(ending, f"{name} never imported torch: {why}")
        log = self.ledger.log
        found = self.ledger.findings()
        errors = [one for one in found if one.severity == "error"]
        stepped = any(e.kind in ("step", "skipped step") for e in log.events)
        watched = stepped and ending.how != "crash" and not self.ledger.trouble and not log.unknown_reference
        status = FOUND if errors else (CLEAN if watched else COULD_NOT_RUN)
        said = {
            "end": "ran to its end",
            "exit": f"exited {ending.message}".strip(),
            "stopped": f"was stopped after {self.options.steps} steps",
            "interrupted": "was interrupted",
            "terminated": "was terminated from outside (SIGTERM)",
            "crash": f"crashed: {ending.message}".rstrip("."),
        }[ending.how]
        if self.options.plot is not None and stepped:
            self._plot()
        if self.options.json:
            self._json(ending, said, status)
            return status
        print(file=self.out)
        if ending.trace:
            print(ending.trace, file=self.out)
        print(f"gradient-ledger: {name} {said}.", file=self.out)
        print(str(self.ledger), file=self.out)
        if not stepped and ending.how != "crash":  # the crash says why by itself
            print(f"\n{self._never(log)}", file=self.out)
        print(f"\n{BLIND}", file=self.out)
        self.out.flush()
        return status

    def _plot(self) -> None:
        assert self.ledger is not None
        os.environ.setdefault("MPLBACKEND", "Agg")
        try:
            self.ledger.plot(path=self.options.plot)
        except ImportError as error:
            needed = f"it needs matplotlib ({error}): python -m pip install matplotlib"
            print(f"gradient-ledger: the picture {self.options.plot} was not drawn; {needed}", file=sys.stderr)
        except OSError as error:
            print(f"gradient-ledger: the picture {self.options.plot} could not be written: {error}", file=sys.stderr)

    def _never(self, log: Any) -> str:
        passes = sum(event.kind == "backward" for event in log.events)
        if passes:
            ran = "1 backward pass ran" if passes == 1 else f"{passes} backward passes ran"
            return (
                f"{ran} and no step was seen. Steps of torch's optimizers and steps written by hand on a model's "
                "parameters are seen; others, through step.__wrapped__ or in C++, are not."
            )
        return (
            "No backward pass and no step was seen in this process: does the script train only with other "
            "arguments (give them behind --), or in other processes (audit each of them: "
            "torchrun … -m gradient_ledger.audit train.py)?"
        )

    def could_not(self, ending: Ending, text: str) -> int:
        """Say in a line why there is no report."""
        if self.options.json:
            self._json(ending, text, COULD_NOT_RUN)
        else:
            if ending.trace:
                print(ending.trace, file=sys.stderr)
            print(f"gradient-ledger: {text}", file=sys.stderr)
        return COULD_NOT_RUN

    def _json(self, ending: Ending, said: str, status: int) -> None:
        import json

        plain: dict[str, Any] = {"findings": [], "steps": 0}
        if self.ledger is not None and not self.own_fault:
            plain = json.loads(self.ledger.as_json(events=self.options.events))
        if ending.trace:
            print(ending.trace, file=sys.stderr)
            plain["traceback"] = ending.trace
        plain |= {"script": self.options.script, "ended": ending.how, "message": said, "exit_status": status}
        json.dump(plain, self.out, indent=1)
        print(file=self.out)
        self.out.flush()


class _CannotLoad(Exception):
    """The script cannot be read or compiled, or the module cannot be found."""


def _load(target: Path | str) -> tuple[types.CodeType, types.ModuleType]:
    """Code and a fresh `__main__` for a script or a module, set up as Python itself does."""
    main = types.ModuleType("__main__")
    names: dict[str, Any] = {"__builtins__": builtins, "__package__": None, "__spec__": None, "__cached__": None}
    if isinstance(target, Path):
        try:
            code = compile(target.read_bytes(), str(target), "exec", dont_inherit=True)
        except SyntaxError as error:
            raise _CannotLoad(f"{error.msg} ({target.name}, line {error.lineno})") from error
        except (OSError, ValueError) as error:
            raise _CannotLoad(str(error)) from error
        names["__file__"] = str(target)
    else:
        sys.path.insert(0, os.getcwd())
        try:
            spec, found = _find_module(target)
        finally:
            sys.path.pop(0)
        code = found
        names |= {"__file__": spec.origin, "__spec__": spec, "__package__": spec.parent, "__loader__": spec.loader}
    main.__dict__.update(names)
    return code, main


def _find_module(name: str) -> tuple[importlib.machinery.ModuleSpec, types.CodeType]:
    import importlib.util

    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
    except (ImportError, ValueError, AttributeError) as error:
        raise _CannotLoad(f"no module {name}: {error}") from error
    code = spec.loader.get_code(spec.name) if spec is not None and hasattr(spec.loader, "get_code") else None  # type: ignore[union-attr]
    if spec is None or code is None:
        raise _CannotLoad(f"there is no module {name} with code that can be run")
    return spec, code


def _trimmed(error: BaseException) -> str:
    """The traceback from the script's own first frame on, as Python would have printed it."""
    told = traceback.TracebackException(type(error), error, error.__traceback__, compact=True)
    ours = os.path.dirname(os.path.abspath(__file__)) + os.sep
    chained: traceback.TracebackException | None = told
    while chained is not None:
        # What stands before our own first frame is whoever started the audit.
        first = next((at for at, frame in enumerate(chained.stack) if frame.filename.startswith(ours)), 0)
        kept = [frame for frame in chained.stack[first:] if not frame.filename.startswith(ours)]
        chained.stack = traceback.StackSummary.from_list(kept)
        chained = chained.__cause__ or chained.__context__
    return "".join(told.format()).rstrip()


def _join_threads(before: Collection[threading.Thread]) -> None:
    """Wait for the threads that the script has started, as Python does before it ends."""
    _release_workers(before)
    for thread in threading.enumerate():
        if thread not in before and not thread.daemon:
            thread.join()


def _release_workers(before: Collection[threading.Thread]) -> None:
    """Let the workers of thread pools finish and leave: an idle one waits for the end of the process, and so for us.

    Python itself tells them so before it joins threads, and can do it again at its own end.
    """
    pools: Any = sys.modules.get("concurrent.futures.thread")
    waiting: Mapping[threading.Thread, Any] = getattr(pools, "_threads_queues", {})
    workers = {worker: queue for worker, queue in list(waiting.items()) if worker not in before}
    if not workers:
        return
    pools._shutdown = True
    try:
        for queue in workers.values():
            queue.put(None)
        for worker in workers:
            worker.join()
    finally:
        pools._shutdown = False


class _Terminated(BaseException):
    """The process was asked to end, as by a scheduler whose time is up."""


@contextlib.contextmanager
def _terminable() -> Iterator[None]:
    """In the block SIGTERM is an exception, so that a report can follow; what the script sets itself counts."""
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield
        return
    pid = os.getpid()

    def end(number: int, frame: types.FrameType | None) -> None:
        if os.getpid() != pid:  # a child the script has forked: it dies as it would have died
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGTERM)
            return
        raise _Terminated

    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGTERM) is end:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


class _AfterTorch(importlib.abc.MetaPathFinder):
    """Calls a function once, right after torch has been imported."""

    def __init__(self, then: Callable[[], None]):
        self.then = then

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name != "torch" or self not in sys.meta_path:
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            sys.meta_path.insert(0, self)
            return spec
        spec.loader = _Announcing(spec.loader, self.then)
        return spec


class _Announcing(importlib.abc.Loader):
    """Torch's own loader, which says when it is done and then takes its place again."""

    def __init__(self, loader: Any, then: Callable[[], None]):
        self.loader, self.then = loader, then

    def __getattr__(self, name: str) -> Any:
        return getattr(self.loader, name)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType | None:
        created: types.ModuleType | None = self.loader.create_module(spec)
        return created

    def exec_module(self, module: types.ModuleType) -> None:
        assert module.__spec__ is not None
        module.__spec__.loader = module.__loader__ = self.loader
        self.loader.exec_module(module)
        self.then()


def main(argv: Sequence[str] | None = None) -> int:
    """`gradient-ledger train.py`, `python -m gradient_ledger train.py`: run the command, return its exit status.

    `course audit` is the same with the course's commands around it.
    """
    given = list(sys.argv[1:] if argv is None else argv)
    cut = given.index("--") if "--" in given else len(given)
    parser = argparse.ArgumentParser(prog="gradient-ledger", description=DESCRIPTION)
    add_arguments(parser)
    options, unknown = parser.parse_known_args(given[:cut])
    if unknown:
        parser.error(f"unrecognized arguments: {' '.join(unknown)}{where_arguments_stand(parser.prog)}")
    try:
        return audit(options, given[cut + 1 :], own_process=argv is None)
    except UserError as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return COULD_NOT_RUN
    except KeyboardInterrupt:
        print(f"{parser.prog}: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader (`| head`) left. Standard output goes nowhere now, so Python's flush at exit is quiet.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FOUND


def where_arguments_stand(prog: str) -> str:
    """Where the script's own arguments go, for a command line that has them in the wrong place."""
    return f"; those of the script stand behind -- as in: {prog} train.py -- --lr 0.1"


if __name__ == "__main__":
    sys.exit(main())
