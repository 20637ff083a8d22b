"""The command: arguments in, exit status out."""

from __future__ import annotations

import argparse
import atexit
import contextlib
import sys
from collections.abc import Sequence

from gradient_ledger.audit import process
from gradient_ledger.audit.formats import tell
from gradient_ledger.audit.options import (
    DESCRIPTION,
    Options,
    add_arguments,
    check,
    read_options,
    where_arguments_stand,
)
from gradient_ledger.audit.outcome import COULD_NOT_RUN, refused
from gradient_ledger.audit.runner import Run
from gradient_ledger.errors import UserError


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
        return audit(read_options(options), given[cut + 1 :], own_process=argv is None)
    except UserError as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return COULD_NOT_RUN
    except KeyboardInterrupt:
        print(f"{parser.prog}: interrupted", file=sys.stderr)
        return 130


def audit(options: Options, arguments: Sequence[str], *, own_process: bool = False) -> int:
    """Run the script with `arguments`, print the report, return the exit status.

    With `own_process`, nothing but the audit happens in this process: what the script leaves for its end, such as
    functions registered with atexit, still finds its `__main__` and prints beside the JSON, not into it.

    Raises `UserError` for a command line that asks for what cannot be, unless a program reads the report: that gets
    it in its own format.
    """
    with contextlib.ExitStack() as at_end:
        out = at_end.enter_context(process.report_stream(alone=options.alone))
        if own_process:
            atexit.register(at_end.pop_all().close)
        else:
            at_end.enter_context(process.main_module_kept())
        try:
            check(options)
        except UserError as error:
            if not options.alone:
                raise
            return tell(refused(options, str(error)), options.format, out)
        return Run(options, list(arguments), out).run()
