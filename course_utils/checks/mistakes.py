"""What an exercise's `mistakes.py` declares: each mistake as the code that makes it, with its words beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from gradient_ledger.catalogue.entry import Misconception

Code = Callable[..., Any]


@dataclass(frozen=True)
class Mistake:
    """A mistake: what a learner would hand in, in one form or several, and the words for it.

    `signs` names the facts, beyond the graded ones, that must agree before the name is given: those the words speak of.
    `where` tells from a case's spec whether it can leave anything but the right answer there: on other cases it is not
    run. Many mistakes of few cases each are named quickly so; a test holds it to the code. `right_where` tells on which
    cases the words hold only of an attempt that is right there: one that is wrong on any of them is not given the name.
    """

    words: Misconception
    forms: tuple[Code, ...]
    signs: tuple[str, ...] = ()
    where: Callable[[Mapping[str, Any]], bool] | None = None
    right_where: Callable[[Mapping[str, Any]], bool] | None = None

    @property
    def id(self) -> str:
        return self.words.id


def mistake(
    title: str,
    happens: str,
    mend: str,
    why: str = "",
    *,
    also: Sequence[Code] = (),
    signs: Sequence[str] = (),
    where: Callable[[Mapping[str, Any]], bool] | None = None,
    right_where: Callable[[Mapping[str, Any]], bool] | None = None,
) -> Callable[[Code], Mistake]:
    """Make a `Mistake` of the function below; its name, with hyphens, is the id. `also` are other forms of it.

    `happens` says what the code does and what that does to the numbers, `mend` what to look at or write next, short
    of the answer, `why` why it is easy to believe.
    """

    def make(code: Code) -> Mistake:
        identifier = code.__name__.replace("_", "-")
        words = Misconception(identifier, title, happens, mend, why)
        return Mistake(words, (code, *also), tuple(signs), where, right_where)

    return make


def named(
    name: str,
    title: str,
    happens: str,
    mend: str,
    why: str = "",
    *,
    signs: Sequence[str] = (),
    where: Callable[[Mapping[str, Any]], bool] | None = None,
) -> Mistake:
    """The words of a mistake that several exercises share, and its signs; `made_by` gives it the code."""
    return Mistake(Misconception(name, title, happens, mend, why), (), tuple(signs), where)


def made_by(one: Mistake, *forms: Code) -> Mistake:
    """The same mistake, made by other code."""
    return replace(one, forms=forms)


def mistakes_in(module: ModuleType) -> tuple[Mistake, ...]:
    """Every mistake of a module, in order. Raises `ValueError` when one goes by another name than its own."""
    found = []
    for name, value in vars(module).items():
        if isinstance(value, Mistake):
            if value.id != name.replace("_", "-"):
                raise ValueError(f"{module.__name__}: the mistake {value.id} is called {name}")
            found.append(value)
    return tuple(found)
