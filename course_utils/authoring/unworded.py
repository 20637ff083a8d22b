"""A learner's wrong answer as a mistake that still lacks its words, and `course verify`'s lines about what is left.

Nothing of such an answer is run before somebody has written the words, and so has read it: `course verify` reads the
file, names what is left to fill in, and leaves the exercise alone.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from course_utils.authoring.attempts import bank_path
from course_utils.authoring.files import AuthoringError, shown, write
from course_utils.exercise import Exercise
from course_utils.lessons import exercise as find_exercise

TO_WRITE = "TO WRITE: "
"""How words begin that are still to be written."""
_NAME = "to_be_named_"
_WORDS = (
    ("title", "the effect in a few words"),
    ("what happens", "what the code does, and what that does to the numbers"),
    ("what to do next", "what to look at or write next, short of the answer"),
    ("why it is easy to believe", "or take this line out"),
)
_IMPORTS = {
    "torch": "import torch",
    "nn": "from torch import nn",
    "F": "import torch.nn.functional as F",
    "np": "import numpy as np",
    "math": "import math",
    "copy": "import copy",
    "itertools": "import itertools",
    "plt": "import matplotlib.pyplot as plt",
}
"""What a lesson's set-up cells bring, by name."""
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def mistakes_path(root: Path, exercise: Exercise) -> Path:
    """Where the mistakes of an exercise stand in a clone."""
    return root / "course_utils" / "lessons" / f"lesson{exercise.lesson}" / exercise.home.split(".")[-1] / "mistakes.py"


def add_mistake(root: Path, identifier: str, mark: str, code: str) -> list[str]:
    """Append `code`, an answer to an exercise, to its mistakes and to its attempts; gives lines for the author.

    `mark`, of letters and digits, tells its names apart from others until it has one of its own. Raises
    `AuthoringError`, having written nothing, where that cannot be done or was done before.
    """
    try:
        exercise = find_exercise(identifier)
    except KeyError as error:
        raise AuthoringError(str(error.args[0])) from error
    if not re.fullmatch(r"[a-z0-9]+", mark):
        raise AuthoringError(f"{mark!r}: not a mark of lower-case letters and digits")
    place, bank = mistakes_path(root, exercise), bank_path(root, exercise)
    texts = {path: _text_of(root, path) for path in (place, bank)}
    name, attempt = f"{_NAME}{mark}", f"handed_in_{mark}"
    for path, wanted in ((place, name), (bank, attempt)):
        if re.search(rf"\b{wanted}\b", texts[path]):
            raise AuthoringError(f"{shown(root, path)}: {wanted} is there already; write its words there")
    own = _parsed(code, exercise.name)
    words = "".join(f'    "{TO_WRITE}{kind}: {hint}",\n' for kind, hint in _WORDS)
    typed = _typed(_copied(own), ast.parse(texts[place]))
    module = f"course_utils.lessons.lesson{exercise.lesson}.{place.parent.name}"
    new, missing = _appended(
        texts[place],
        f"@mistake(\n{words})\n",
        _renamed(typed, exercise.name, name),
        name,
        {"mistake": "from course_utils.checks.mistakes import mistake"},
    )
    new_bank, missing_bank = _appended(
        texts[bank],
        f"@wrong(mistakes.{name})\n",
        _renamed(_copied(own), exercise.name, attempt),
        attempt,
        {
            "wrong": "from course_utils.authoring.attempts import wrong",
            "mistakes": f"from {module} import mistakes",
        },
    )
    write(place, new)
    write(bank, new_bank)
    lines = [
        f"{shown(root, place)}: {name} added, without words",
        f"{shown(root, bank)}: {attempt} added, which makes it",
    ]
    unknown = sorted({*missing, *missing_bank})
    if unknown:
        lines.append(f"It uses {', '.join(unknown)}, which stood elsewhere in the notebook: bring that along.")
    lines += [
        "This is a learner's code, and from here on it runs without a sandbox: read it first. Then write its words, "
        "give it a name in both files, run `ruff check --fix` and `ruff format` on them, and "
        f"`course verify {exercise.lesson}`. Until then nothing is graded.",
    ]
    return lines


def unwritten(root: Path, exercise: Exercise) -> Iterator[str]:
    """A line for each mistake of an exercise whose words are still to be written. Imports nothing."""
    path = mistakes_path(root, exercise)
    if not path.is_file() or TO_WRITE not in (text := path.read_text(encoding="utf-8")) and _NAME not in text:
        return
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return  # importing it says so
    for node in tree.body:
        if not isinstance(node, _Definition):
            continue
        strings = {
            part.value for one in node.decorator_list for part in ast.walk(one) if isinstance(part, ast.Constant)
        }
        left = [kind for kind, _ in _WORDS if any(str(value).startswith(f"{TO_WRITE}{kind}") for value in strings)]
        todo = [f"write its {', '.join(left)}"] if left else []
        if node.name.startswith(_NAME):
            todo.append(f"give it a name, here and in {shown(root, bank_path(root, exercise))}")
        if todo:
            yield f"{shown(root, path)}: {node.name}, line {node.lineno}: {'; '.join(todo)}"


# ------------------------------------------------------------------ a learner's code


def _text_of(root: Path, path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise AuthoringError(
            f"{shown(root, path)}: cannot be read ({error.strerror}); this needs a clone of the course"
        ) from error


def _parsed(code: str, name: str) -> ast.Module:
    """The code as a module whose last definition of `name` is a `def` or a `class`."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise AuthoringError(f"the example of {name} cannot be read as Python ({error})") from error
    for place, node in enumerate(tree.body):
        match node:
            case ast.Assign(targets=[ast.Name(id=target)], value=ast.Lambda(args=args, body=body)) if target == name:
                (made,) = ast.parse(f"def {name}(): return ...").body
                assert isinstance(made, ast.FunctionDef)
                made.args, made.body = args, [ast.Return(body)]
                tree.body[place] = made
    kept: tuple[type, ...] = (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, *get_args(_Definition))
    tree.body = [node for place, node in enumerate(tree.body) if not _is_defined_later(tree.body, place)]
    tree.body = [node for node in tree.body if isinstance(node, kept)]
    if not any(isinstance(node, _Definition) and node.name == name for node in tree.body):
        raise AuthoringError(f"the example does not define {name} by def or class: write the mistake by hand")
    for part in ast.walk(tree):
        if isinstance(part, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(part) and len(part.body) > 1:
            part.body = part.body[1:]
    return tree


def _is_defined_later(body: list[ast.stmt], place: int) -> bool:
    node = body[place]
    return isinstance(node, _Definition) and any(
        isinstance(later, _Definition) and later.name == node.name for later in body[place + 1 :]
    )


def _copied(tree: ast.Module) -> ast.Module:
    return ast.parse(ast.unparse(tree))


class _Renaming(ast.NodeTransformer):
    """Gives the function another name, where it is defined and where it calls itself."""

    def __init__(self, old: str, new: str) -> None:
        self.old, self.new = old, new

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.new, node.ctx) if node.id == self.old else node

    def _definition(self, node: _Definition) -> ast.AST:
        self.generic_visit(node)
        if node.name == self.old:
            node.name = self.new
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = _definition


def _renamed(tree: ast.Module, old: str, new: str) -> ast.Module:
    _Renaming(old, new).visit(tree)
    return ast.fix_missing_locations(tree)


def _typed(tree: ast.Module, module: ast.Module) -> ast.Module:
    """The functions with the annotations of that mistake of the module which has the same arguments."""
    known: dict[tuple[str, ...], ast.FunctionDef] = {}
    for node in module.body:
        if isinstance(node, ast.FunctionDef) and node.decorator_list and node.returns is not None:
            known.setdefault(tuple(one.arg for one in node.args.args), node)
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef):
            continue
        like = known.get(tuple(one.arg for one in node.args.args))
        if like is not None and not any(one.annotation for one in node.args.args):
            for mine, theirs in zip(node.args.args, like.args.args, strict=True):
                mine.annotation = theirs.annotation
            node.returns = like.returns
    return tree


def _appended(text: str, decorator: str, tree: ast.Module, name: str, needed: dict[str, str]) -> tuple[str, list[str]]:
    """The text of a module with the code at its end and what it needs imported; the names that nothing brings.

    `decorator` stands before `name`. `needed` is {name that it uses: the line that imports it}.
    """
    module = ast.parse(text)
    bound = _bound(module)
    parts, imports = [], [line for key, line in needed.items() if key not in bound]
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            if _bound(ast.Module([node], [])) - bound:
                imports.append(ast.unparse(node))
        elif isinstance(node, _Definition) and node.name == name:
            parts.append(decorator + ast.unparse(node))
        else:
            clash = _bound(ast.Module([node], [])) & bound
            if clash:
                raise AuthoringError(f"the example defines {min(clash)}, as the module does: write the mistake by hand")
            parts.append(ast.unparse(node))
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    own = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    own |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)} | _bound(tree)
    own |= {key for node in ast.walk(tree) for key in _local(node)} | set(needed) | set(vars(builtins))
    free = used - own - bound
    imports += [_IMPORTS[key] for key in sorted(free & _IMPORTS.keys())]
    text = _with_imports(text, module, list(dict.fromkeys(imports)))
    return f"{text.rstrip()}\n\n\n" + "\n\n\n".join(parts) + "\n", sorted(free - _IMPORTS.keys())


def _local(node: ast.AST) -> set[str]:
    """Names that a node binds inside of a function, other than by assignment."""
    if isinstance(node, _Definition):
        return {node.name}
    if isinstance(node, ast.ExceptHandler):
        return {node.name or ""}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    return set()


def _bound(module: ast.Module) -> set[str]:
    """Names that a module binds at its top."""
    found: set[str] = set()
    for node in module.body:
        found |= _local(node)
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {part.id for one in targets for part in ast.walk(one) if isinstance(part, ast.Name)}
    return found


def _with_imports(text: str, module: ast.Module, lines: list[str]) -> str:
    """The text with further imports behind its last one, or behind its docstring."""
    if not lines:
        return text
    last = [node for node in module.body if isinstance(node, ast.Import | ast.ImportFrom)] or module.body[:1]
    rows = text.split("\n")
    at = (last[-1].end_lineno or 0) if last else 0
    return "\n".join([*rows[:at], *lines, *rows[at:]])
