"""What the summands of a loss are reduced by: a sum over the rows of a batch, beside means over them."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

from gradient_ledger import source
from gradient_ledger.compared import every, leaves
from gradient_ledger.events import Place, SummedRows
from gradient_ledger.graph import below, number, saved, summands, without_factors

_OTHERWISE = re.compile(r"/|\bdiv|mean\(|item\(|print|correct|[<>]|==|\.data\b|numpy|len\(")
"""What stands in a statement whose sum is divided, or is none of a loss."""
_PASSED = ("NegBackward0", "MulBackward0", "ToCopyBackward0", "AliasBackward0", "CloneBackward0", "SqueezeBackward0")
_TAKEN = ("SumBackward1", "ViewBackward0", "UnsafeViewBackward0", "ReshapeAliasBackward0", "SqueezeBackward1")
"""What a sum over everything may be taken after, without another number of rows."""


SOME, MANY, VERY_MANY, MUCH = 4, 64, 256, 10
"""Entries of a row that make a difference; that are summed by no habit, as classes are; those of an image; and how much
more than a mean their sum is to weigh."""
EACH_ENTRY = ("BinaryCrossEntropyBackward0", "BinaryCrossEntropyWithLogitsBackward0", "MseLossBackward0")
"""Losses of each entry, also where these are classes."""


class Reduced(NamedTuple):
    """A summand of a loss that is one number for many."""

    how: str
    """`mean`; `sum`; `rows` for a sum that is divided by the number of its rows, `again` for a mean that is."""
    sizes: tuple[int, ...]
    """Of what it is a mean or a sum over."""
    factor: float
    """The numbers that it is multiplied with."""
    word: str
    """The operation before that."""
    node: Any
    """Its node."""


def look(node: Any, scaled: bool) -> SummedRows | None:
    """A sum over the rows of a batch that a loss adds to a mean over as many rows, neither divided nor made small; or
    one over the entries of each row beside a mean over the same entries."""
    if scaled:  # the loss scale is a tensor, and the outermost factor
        node = below(node)
    parts = _terms(without_factors(node))
    terms = [term for one in parts if (term := _reduced(*one)) is not None]
    averaged = [term for term in terms if term.how in ("mean", "rows")]
    if (found := _of_entries(terms)) is not None:
        return found
    for term in terms:
        if term.how == "again" and sum(each.how == "again" for each in terms) < len(parts):
            return SummedRows(term.sizes[0], alike=True, again=True)
        if term.how != "sum" or not _is_of_rows(term) or term.factor * term.sizes[0] <= 1:
            continue
        if _is_weight(term.node) or (_is_of_gradients(term.node) and not _is_of_lengths(term.node)):
            continue
        beside = [
            other for other in averaged if _are_of_one_batch(term.sizes, other.sizes) or _are_one_loss(term, other)
        ]
        if beside:
            same = (other.word == term.word and len(other.sizes) == len(term.sizes) for other in beside)
            alike = any(same) or any(_are_one_loss(term, other) for other in beside)
            return SummedRows(term.sizes[0], alike or any(other.how == "rows" for other in beside))
    return _alone(parts, terms)


def _of_entries(terms: list[Reduced]) -> SummedRows | None:
    """A sum over the entries of each row beside a mean over entries of the same kind, where no weight makes it small.

    A cross entropy is no mean nor sum over classes: it takes one of them in each row.
    """
    for term in terms:
        entries = 1 if term.word.startswith("Nll") else math.prod(term.sizes[1:])
        for other in terms if term.how == "rows" and entries >= SOME else ():
            whole = other.how in ("mean", "again") and not other.word.startswith("Nll")
            many = entries >= MANY and other.sizes == term.sizes
            few = other.sizes[1:] == term.sizes[1:] and other.word in EACH_ENTRY
            if whole and (many or few) and term.factor * entries > (MUCH if many else SOME - 1) * other.factor:
                return SummedRows(term.sizes[0], alike=many and other.word == term.word, entries=entries)
    return None


def _alone(parts: list[tuple[Any, float]], terms: list[Reduced]) -> SummedRows | None:
    """The one summand that is a sum over very many entries of each row, where no other is a sum over those of a row,
    however few: who sums all of them, as a likelihood and a divergence, means it."""
    sums = [term for term in terms if term.how == "rows" and len(term.sizes) > 1]
    if len(sums) != 1 or len(parts) < 2:
        return None
    entries = math.prod(sums[0].sizes[1:])
    much = entries >= VERY_MANY and sums[0].factor * entries > MUCH
    return SummedRows(sums[0].sizes[0], alike=False, entries=entries, alone=True) if much else None


def over_classes(node: Any, scaled: bool) -> int:
    """The number of classes by which a summand of a loss is divided: a mean of products with log-probabilities, of
    which the sum over the classes is a divergence or an entropy. 0 where there is none, or no other summand."""
    if len(_terms(without_factors(below(node) if scaled else node))) < 2:
        return 0
    return next((found for one in every(node) if (found := _classes(one))), 0)


def _classes(node: Any) -> int:
    """The number of classes that this takes the mean over, of products with log-probabilities."""
    if type(node).__name__ not in ("MeanBackward0", "MeanBackward1"):
        return 0
    sizes = tuple(node._saved_self_sym_sizes)
    over = set(_dims(node)) if hasattr(node, "_saved_dim") else set(range(len(sizes)))
    inner = below(node)
    while type(inner).__name__ in ("SubBackward0", "NegBackward0"):
        inner = below(inner)
    of = [one for one, _ in inner.next_functions] if type(inner).__name__ == "MulBackward0" else []
    of += [
        one for each in of for one, _ in getattr(each, "next_functions", ()) if type(each).__name__ == "SubBackward0"
    ]
    logs = [one for one in of if type(one).__name__ == "LogSoftmaxBackward0"]
    at = _signed(logs[0]._saved_dim) % len(sizes) if logs and sizes else -1
    return sizes[at] if at in over and at >= 0 else 0


def _signed(dim: int) -> int:
    """Autograd keeps no signs."""
    return dim - 2**64 if dim >= 2**63 else dim


def _dims(node: Any) -> list[int]:
    """The dimensions that a sum or a mean is taken over."""
    return [_signed(at) % len(node._saved_self_sym_sizes) for at in node._saved_dim]


def classes_at(files: Iterable[str]) -> Place | None:
    """The one line that takes the mean of a divergence, or computes one at all."""
    files = [*files]
    return source.only_line(files, _DIVERGES_IN_MEAN) or source.only_line(files, r"\bkl_div\(|KLDivLoss\(")


_DIVERGES_IN_MEAN = r"\bkl_div\(.*none.*\)\.mean\(|\bkl_div\(.*['\"]mean|KLDivLoss\(\s*\)|KLDivLoss\(.*['\"]mean"


def written_at(files: Iterable[str]) -> Place | None:
    """The one line with a sum over everything that nothing in its statement divides."""
    found = [Place(file, line) for file in files for line in _sums(file)]
    return found[0] if len(found) == 1 else None


def of_entries_at(files: Iterable[str]) -> Place | None:
    """The one line with a sum over several dimensions, or a loss that takes a sum."""
    return source.only_line(files, _ENTRIES)


_ENTRIES = r"\.sum\(\s*(dim\s*=\s*)?[\[(]|(flatten\(1\)|view\(.*-1\))\.sum\(|reduction\s*=\s*['\"]sum"
_ROWS = (
    r"^(?!.*(\.sum\(|reduction\s*=|item\(|\+=)).*loss.*/\s*\(?\s*"
    r"([\w.]+\.(size\(0\)|shape\[0\])|(\w+\.)*(batch_?size|bs|B)\b)"
)
"""Text of a loss that is divided by the number of rows."""


def divided_at(files: Iterable[str]) -> Place | None:
    """The one line that divides a loss by the number of rows, and has no sum."""
    return source.only_line(files, _ROWS)


@lru_cache(maxsize=256)
def _sums(file: str) -> tuple[int, ...]:
    tree = source.parsed(file)
    plain = [one for one in ast.walk(tree) if isinstance(one, ast.Assign | ast.Return)] if tree is not None else []
    told = [one for one in plain if one.value is not None and not _OTHERWISE.search(ast.unparse(one.value))]
    calls = (call for one in told for call in ast.walk(one) if isinstance(call, ast.Call))
    return tuple(sorted({call.lineno for call in calls if _sums_all(call)}))


def _sums_all(one: ast.Call) -> bool:
    """Whether this is `x.sum()`, `torch.sum(x)` or a loss with `reduction="sum"`."""
    name = ast.unparse(one.func)
    if any(word.arg == "reduction" and ast.unparse(word.value).strip("'\"") == "sum" for word in one.keywords):
        return True
    return name.rpartition(".")[2] == "sum" and not one.keywords and len(one.args) == (name == "torch.sum")


def _terms(node: Any) -> list[tuple[Any, float]]:
    """The summands of a loss, also those of a sum with a weight, each with the numbers that it is multiplied with."""
    found: list[tuple[Any, float]] = []
    waiting = [(one, 1.0) for one in summands(node)]
    while waiting and len(found) < 12:
        one, by = waiting.pop()
        while type(one).__name__ in _PASSED:
            value = number(one) if type(one).__name__ == "MulBackward0" else 1.0
            inner = [each for each, _ in one.next_functions if each is not None]
            if value is None or len(inner) != 1:
                break
            one, by = inner[0], by * abs(value)
        parts = summands(one)
        if len(parts) > 1:
            waiting += [(part, by) for part in parts]
        else:
            found.append((one, by))
    return found


def _is_of_rows(term: Reduced) -> bool:
    """Whether a sum is over rows: of a matrix, or of one loss for each."""
    each = any(getattr(one, "_saved_reduction", 1) == 0 for one in _near(term.node)) or _is_of_lengths(term.node)
    return len(term.sizes) > 1 - each and term.sizes[0] > 1


def _near(node: Any) -> list[Any]:
    """A node and those right before it."""
    return [one for one in (node, *(inner for inner, _ in getattr(node, "next_functions", ()))) if one is not None]


def _reduced(node: Any, factor: float) -> Reduced | None:
    kind = type(node).__name__
    if kind in ("MulBackward0", "NegBackward0") and (kind == "NegBackward0" or number(node) is not None):
        return _reduced(below(node), factor * abs(number(node) or 1.0))
    if kind == "DivBackward0":
        by = number(node)
        over = _reduced(below(node), factor) if by is not None else None
        if over is None or by == 1 or over.how not in ("sum", "mean") or not over.sizes:
            return over
        if over.how == "mean":
            return over._replace(how="again") if by == over.sizes[0] > 2 else over
        if by in over.sizes[1:] and by != over.sizes[0]:  # by its classes, and not by its rows
            return over._replace(factor=over.factor / by)
        return over._replace(how="rows") if by == over.sizes[0] else None
    if kind in ("MeanBackward0", "SumBackward0"):
        sizes = tuple(getattr(node, "_saved_self_sym_sizes", ()))
        inner = below(node)
        if kind == "MeanBackward0" and (whole := _summed_rows(inner, sizes)) is not None:
            return Reduced("rows", whole, factor, type(below(inner)).__name__, inner)
        while kind == "SumBackward0" and type(inner).__name__ in _TAKEN:
            before = tuple(getattr(inner, "_saved_self_sym_sizes", sizes))
            if before[:1] != sizes[:1]:
                break
            sizes, inner = before, below(inner)
        return Reduced("mean" if kind == "MeanBackward0" else "sum", sizes, factor, type(inner).__name__, inner)
    reduction = {1: "mean", 2: "sum"}.get(getattr(node, "_saved_reduction", 0))
    given = saved(node, "self") if reduction else None
    if reduction is None or given is None:
        return None
    return Reduced(reduction, tuple(given.shape), factor, kind, node)


def _summed_rows(node: Any, sizes: tuple[int, ...]) -> tuple[int, ...] | None:
    """The sizes of what is summed over all but its rows, where a mean over these is what comes next."""
    while type(node).__name__ == "NegBackward0" or (type(node).__name__ == "MulBackward0" and number(node) is not None):
        node = below(node)
    whole = tuple(getattr(node, "_saved_self_sym_sizes", ())) if type(node).__name__ == "SumBackward1" else ()
    if len(sizes) != 1 or whole[:1] != sizes:
        return None
    return whole if {*_dims(node)} == {*range(1, len(whole))} else None


def _are_of_one_batch(sizes: tuple[int, ...], others: tuple[int, ...]) -> bool:
    """Whether two tensors have as many rows, or the same form but for their first size, as steps of a sequence and the
    differences between them."""
    if not others or math.prod(others) < 2:
        return False
    return sizes[0] == others[0] or (len(sizes) == len(others) > 2 and sizes[1:] == others[1:])


def _are_one_loss(term: Reduced, other: Reduced) -> bool:
    """Whether what is summed for each row is of the kind that the other one takes the mean of."""
    kinds = {type(one).__name__ for one in _near(term.node) if getattr(one, "_saved_reduction", 1) == 0}
    return other.how == "mean" and (other.word in kinds or type(other.node).__name__ in kinds)


def _is_of_gradients(node: Any) -> bool:
    """Whether what is summed was computed from gradients of sums or means: those of each row are its own, or hold the
    number of rows already."""
    kinds = {type(one).__name__ for one in every(node)}
    return any("BackwardBackward" in kind or "GradBackward" in kind for kind in kinds)


def _is_of_lengths(node: Any) -> bool:
    """Whether what is summed is how far the length of each row is from a number: those of gradients are each row's own
    then, or they would be close to none of them."""
    while type(node).__name__ in ("PowBackward0", "AbsBackward0", "ReluBackward0", "ClampMinBackward0"):
        node = below(node)
    kind = type(node).__name__
    given = [one for one, _ in getattr(node, "next_functions", ()) if one is not None]
    constant = kind == "RsubBackward1" or (kind == "SubBackward0" and len(given) == 1)
    norm = below(node) if constant else None
    of_rows = type(norm).__name__ in ("NormBackward1", "LinalgVectorNormBackward0")
    return of_rows and bool(getattr(norm, "_saved_dim", ()))


def _is_weight(node: Any) -> bool:
    """Whether what is summed is made of one leaf alone: a penalty on a weight has no rows."""
    return node is None or len(leaves([node])) < 2
