"""The capstone as a script: the learner's own `train`, with a model, data and a command line around it."""

from __future__ import annotations

import ast
import builtins
import hashlib
import inspect
import linecache
import symtable
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gradient_ledger.files import write_atomically

NAME = "capstone.py"
_FRAME = Path(__file__).with_name("capstone.txt")
_PLACE = "@@TRAIN@@"
_OWN = "[tool.course]"
"""A line that the project file of this repository has, and no other."""
_SIGNED = "# written by the course, sha256 of the lines above: "


def take_home(train: Callable[..., Any], folder: Path | None = None) -> None:
    """Write `capstone.py` with the text of `train` into `folder`, by default the current one, and say what was done.

    The text is the whole cell in which `train` was written. A file of that name that has been changed since the course
    wrote it stays as it is, and so do the folders of the published notebooks.
    """
    here = Path.cwd() if folder is None else folder
    written = _cell(train)
    if written is None:
        print(f"the text of your train cannot be read here: {NAME} was not written")
        return
    if _unsolved(written, train.__name__):
        print(f"exercise 7.7 is not solved yet: {NAME} is made from your own train")
        return
    text = script(written)
    lacking = missing(text)
    if lacking:
        print(f"{NAME} was not written: the cell of 7.7 uses {', '.join(lacking)} from another cell.")
        print("Put that into the cell of 7.7 as well, run it, and run this cell again.")
        return
    if _published(here):
        print(f"this is the published notebook: in your workbook, {NAME} is written beside it")
        return
    target = here / NAME
    if target.is_dir():
        print(f"{NAME} is a folder here, so nothing was written. Rename it to get the script.")
        return
    if target.exists():
        old = target.read_text(encoding="utf-8", errors="replace")  # a text of another encoding is no text of ours
        if old == text:
            print(f"{NAME} is there, and up to date")
            return
        if signed(old.partition(_SIGNED)[0]) != old:
            print(f"{NAME} has been changed since it was written, so it stays. Rename it to get a new one.")
            return
    write_atomically(target, text)
    target.chmod(0o644)  # a script to pass on, and not for its owner alone
    print(f"written: {NAME}")


def script(train: str) -> str:
    """The script with this text of `train` in it, signed."""
    return signed(_FRAME.read_text(encoding="utf-8").replace(_PLACE, train.strip()))


def signed(text: str) -> str:
    """`text` with a last line by which a change of it can be noticed."""
    return f"{text}{_SIGNED}{hashlib.sha256(text.encode()).hexdigest()}\n"


def missing(text: str) -> list[str]:
    """Names that a script uses and nobody defines in it, sorted."""
    table = symtable.symtable(text, NAME, "exec")
    known = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    known |= {inner.get_name() for inner in table.get_children()} | set(dir(builtins)) | {"__name__", "__file__"}
    used: set[str] = set()
    waiting = [table]
    while waiting:
        scope = waiting.pop()
        waiting += scope.get_children()
        used |= {
            symbol.get_name()
            for symbol in scope.get_symbols()
            if symbol.is_referenced() and (symbol.is_global() or scope is table)
        }
    return sorted(used - known)


def _cell(train: Callable[..., Any]) -> str | None:
    """The text of the cell that `train` was written in; of the function alone where that is a file; else `None`."""
    try:
        file = inspect.unwrap(train).__code__.co_filename
        if not Path(file).exists():
            return "".join(linecache.getlines(file)) or None
        return inspect.getsource(train)
    except (AttributeError, OSError, TypeError):
        return None


def _unsolved(text: str, name: str) -> bool:
    """Whether the function of that name ends in `...` or `return ...`, as the stub does."""
    functions = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef) and node.name == name)
    last = [node.body[-1] for node in functions]
    values = [one.value for one in last if isinstance(one, ast.Expr | ast.Return)]
    return any(isinstance(value, ast.Constant) and value.value is ... for value in values)


def _published(folder: Path) -> bool:
    """Whether this is a folder of the repository that notebooks are generated into."""
    project = folder.resolve().parent / "pyproject.toml"
    if folder.resolve().name not in ("notebooks", "solutions") or not project.is_file():
        return False
    return _OWN in project.read_text(encoding="utf-8").splitlines()
