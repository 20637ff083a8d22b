"""The script or module as code with a fresh `__main__`, as Python itself makes it; and the moment torch is there."""

from __future__ import annotations

import builtins
import contextlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any


class CannotLoad(Exception):
    """The script cannot be read or compiled, or the module cannot be found."""


# ------------------------------------------------------------------ the script


def load(target: Path | str) -> tuple[types.CodeType, types.ModuleType]:
    """Code and a fresh `__main__` for a script, or for a module of that name. Raises `CannotLoad`."""
    main = types.ModuleType("__main__")
    names: dict[str, Any] = {"__builtins__": builtins, "__package__": None, "__spec__": None, "__cached__": None}
    if isinstance(target, Path):
        try:
            code = compile(target.read_bytes(), str(target), "exec", dont_inherit=True)
        except SyntaxError as error:
            raise CannotLoad(f"{error.msg} ({target.name}, line {error.lineno})") from error
        except (OSError, ValueError) as error:
            raise CannotLoad(str(error)) from error
        names["__file__"] = str(target)
    else:
        sys.path.insert(0, os.getcwd())
        try:
            spec, code = _find_module(target)
        finally:
            sys.path.pop(0)
        names |= {"__file__": spec.origin, "__spec__": spec, "__package__": spec.parent, "__loader__": spec.loader}
    main.__dict__.update(names)
    return code, main


def _find_module(name: str) -> tuple[importlib.machinery.ModuleSpec, types.CodeType]:
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
    except (ImportError, ValueError, AttributeError) as error:
        raise CannotLoad(f"no module {name}: {error}") from error
    code = spec.loader.get_code(spec.name) if spec is not None and hasattr(spec.loader, "get_code") else None  # type: ignore[union-attr]
    if spec is None or code is None:
        raise CannotLoad(f"there is no module {name} with code that can be run")
    return spec, code


# ------------------------------------------------------------------ torch


@contextlib.contextmanager
def after_torch(call: Callable[[], None]) -> Iterator[None]:
    """Call once, right after torch has been imported: at once where it is there, else when the block imports it."""
    if "torch" in sys.modules:
        call()
        yield
        return
    finder = _AfterTorch(call)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        if finder in sys.meta_path:
            sys.meta_path.remove(finder)


class _AfterTorch(importlib.abc.MetaPathFinder):
    """Finds torch where everybody finds it, and has its loader say when it is done."""

    def __init__(self, call: Callable[[], None]):
        self.call = call

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != "torch" or self not in sys.meta_path:
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            sys.meta_path.insert(0, self)
            return spec
        spec.loader = _Announcing(spec.loader, self.call)
        return spec


class _Announcing(importlib.abc.Loader):
    """Torch's own loader, which says when it is done and then takes its place again."""

    def __init__(self, loader: Any, call: Callable[[], None]):
        self.loader, self.call = loader, call

    def __getattr__(self, name: str) -> Any:
        return getattr(self.loader, name)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType | None:
        created: types.ModuleType | None = self.loader.create_module(spec)
        return created

    def exec_module(self, module: types.ModuleType) -> None:
        assert module.__spec__ is not None
        module.__spec__.loader = module.__loader__ = self.loader
        self.loader.exec_module(module)
        self.call()
