"""The command line of an audit as frozen data, and its faults that can be seen before the script runs."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from pathlib import Path

from gradient_ledger.audit.formats import FORMATS, TEXT
from gradient_ledger.errors import UserError

DESCRIPTION = (
    "Run a training script unchanged and report every gradient mistake seen, with its line, its numbers and its "
    "remedy. The script's own arguments stand behind --. Exit status 0: no errors; 1: errors found; 2: the script "
    "could not be run, or never stepped."
)

_HAS_EVENTS = "json"
"""The format that --events belongs to."""


@dataclass(frozen=True)
class Options:
    """What an audit was asked for. Paths for later use count from where the user stood: scripts leave their folder."""

    script: str
    """A path as it was given, or with `module` the name of a module."""
    module: bool = False
    steps: int | None = None
    """Stop after so many optimizer steps."""
    window: int | None = None
    """Micro-batches meant per optimizer step."""
    reference: str = ""
    """`NAME` or `FILE:NAME` as it was given; empty for none."""
    reference_file: str = ""
    """The path of that `FILE`; empty where the function is one of the script's own."""
    digests: bool = False
    format: str = TEXT
    """A name in `FORMATS`."""
    events: bool = False
    """Whether every event is wanted too."""
    plot: Path | None = None
    """Where the picture goes."""

    @property
    def target(self) -> Path | str:
        """The path of the script, or the name of the module."""
        return self.script if self.module else Path(self.script).absolute()

    @property
    def reference_name(self) -> str:
        """The name of the reference's function."""
        return self.reference.rpartition(":")[2]

    @property
    def alone(self) -> bool:
        """Whether standard output is the report's alone: every format but the text is read by programs."""
        return self.format != TEXT


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of an audit; what stands behind `--` goes to the script."""
    chosen = [name for name in FORMATS if name != TEXT]
    shown = " ".join(f"[--{name} [--events]]" if name == _HAS_EVENTS else f"[--{name}]" for name in chosen)
    parser.usage = (
        f"{parser.prog} [-m] [--steps N] [--window K] [--reference [FILE:]NAME] [--digests] {shown}\n"
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
        default="",
        help="a function of the script, or of another file, that is called before each step and returns "
        "{parameter name: gradient to be used}",
    )
    parser.add_argument(
        "--digests", action="store_true", help="also find writes that leave no trace; reads all gradients"
    )
    one_of = parser.add_mutually_exclusive_group()
    for name in chosen:
        one_of.add_argument(f"--{name}", dest="format", action="store_const", const=name, help=FORMATS[name])
    parser.set_defaults(format=TEXT)
    parser.add_argument("--events", action="store_true", help="with --json: every event too")
    parser.add_argument("--plot", type=Path, metavar="PNG", help="also write the timeline as a picture")


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def where_arguments_stand(prog: str) -> str:
    """Where the script's own arguments go, for a command line that has them in the wrong place."""
    return f"; those of the script stand behind -- as in: {prog} train.py -- --lr 0.1"


def read_options(given: argparse.Namespace) -> Options:
    """The options that a parser with `add_arguments` has read. Nothing is checked yet."""
    file = given.reference.rpartition(":")[0]
    return Options(
        script=given.script,
        module=given.module,
        steps=given.steps,
        window=given.window,
        reference=given.reference,
        reference_file=os.path.abspath(file) if file else "",
        digests=given.digests,
        format=given.format,
        events=given.events,
        plot=given.plot.absolute() if given.plot is not None else None,
    )


def check(options: Options) -> None:
    """Raise `UserError` for what can be seen to be wrong beforehand."""
    if not options.module:
        _check_script(options.script)
    if options.events and options.format != _HAS_EVENTS:
        raise UserError(f"--events belongs to --{_HAS_EVENTS}: without it the events are not printed")
    if options.reference_file and not Path(options.reference_file).is_file():
        file = options.reference.rpartition(":")[0]
        raise UserError(f"--reference {options.reference}: there is no file {file} here")


def _check_script(name: str) -> None:
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
