"""What a notebook's kernel offers to cells: a `__main__`, magics, `display`, top-level await, readable tracebacks.

Magics that time or catch output run their code once; other magics, `!` and `?` do nothing. So does all that is there
for a reader's eyes.
"""

from __future__ import annotations

import ast
import builtins
import linecache
import re
import sys
import types
from functools import cache
from typing import Any

CELL = r"<ipython-input-(\d+)-submission>"
"""The file names of cells: those that IPython once gave, by which the ledger and tracebacks know a cell."""
_RUN_ONCE = frozenset({"time", "timeit", "capture", "prun"})
_OF_IPYTHON = (
    ("IPython", "get_ipython"),
    ("IPython.core.getipython", "get_ipython"),
    ("IPython.display", "display"),
    ("IPython.core.display_functions", "display"),
)
"""Modules in which a cell may look for what a kernel gives it, with the name that it has there."""
_OPTIONS = re.compile(r"^(\s*-[a-zA-Z]+(\s*\d+)?(?=\s|$))*\s*")


def nothing(*_: object, **__: object) -> None:
    """Stands in for what costs time, asks somebody or shows something."""


class Nothing:
    """An object of which every attribute can be called, and does nothing."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing()

    def __call__(self, *_: object, **__: object) -> None:
        return None


class Shell(Nothing):
    """What `get_ipython()` gives."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel

    def run_line_magic(self, name: str, line: str, *_: object, **__: object) -> object:
        return self._kernel.once(line) if name in _RUN_ONCE else None

    def run_cell_magic(self, name: str, line: str, cell: str) -> object:
        return self._kernel.once(cell) if name in _RUN_ONCE else None

    def getoutput(self, *_: object, **__: object) -> list[str]:
        return []


class Kernel:
    """A namespace named `__main__` in which cells run."""

    def __init__(self) -> None:
        module = types.ModuleType("__main__")
        sys.modules["__main__"] = module
        self.names = module.__dict__
        shell = Shell(self)
        self.names.update(
            __builtins__=builtins, get_ipython=lambda: shell, display=nothing, In=[""], Out={}, _="", __="", ___=""
        )
        for home, name in _OF_IPYTHON:
            if home in sys.modules:
                vars(sys.modules[home])[name] = self.names[name]
        self._file = "<cell>"
        self._loop: Any = None

    def run(self, number: int, source: str) -> None:
        """Run a cell of plain Python. Raises whatever it raises."""
        self._file = CELL.replace(r"(\d+)", str(number))
        linecache.cache[self._file] = (len(source), None, source.splitlines(True), self._file)
        self._execute(source, "exec")

    def once(self, line: str) -> object:
        """The code behind a `%time`, once: its value where it is an expression."""
        code = _OPTIONS.sub("", line, count=1)
        try:
            ast.parse(code, mode="eval")
        except SyntaxError:
            return self._execute(code, "exec")
        return self._execute(code, "eval")

    def _execute(self, source: str, mode: str) -> object:
        code = compile(source, self._file, mode, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        value = eval(code, self.names)
        if code.co_flags & 0x80:  # a coroutine: something in it is awaited at the top level
            import asyncio

            self._loop = self._loop or asyncio.new_event_loop()
            return self._loop.run_until_complete(value)
        return value


@cache
def plain_python(source: str) -> str:
    """A cell's text as Python, line by line: magics become calls of `get_ipython()`, or go."""
    first, _, rest = source.lstrip("\n").partition("\n")
    if first.startswith("%%"):
        name = first[2:].split(" ")[0].strip()
        before = source[: len(source) - len(source.lstrip("\n"))]
        return before + "\n" + plain_python(rest) if name in _RUN_ONCE else ""
    try:
        ast.parse(source)
        return source
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    try:
        from IPython.core.inputtransformer2 import TransformerManager
    except ImportError:
        return "\n".join("" if line.lstrip().startswith(("%", "!", "?")) else line for line in source.split("\n"))
    try:
        return str(TransformerManager().transform_cell(source))
    except Exception:  # what it cannot read, Python will say what is wrong with
        return source
