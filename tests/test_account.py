"""What the recorder remembers: accounts and their six transitions, the budget, the journal; what it reads of source
lines and of a loss's graph."""

from __future__ import annotations

import ast
import itertools
import re
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

import gradient_ledger
from gradient_ledger import account as account_module
from gradient_ledger import conditions, graph, journal
from gradient_ledger.account import EMPTY, FRESH, SKIPPED, USED, ZERO, Account, Deposit, Thrown
from gradient_ledger.budget import LOOKS, Budget
from gradient_ledger.events import Accumulate, Backward, Clear, Crossing, Edit, Forward, Place, SchedulerStep, Step
from gradient_ledger.journal import Journal
from gradient_ledger.state import State

PACKAGE = Path(gradient_ledger.__file__).parent
HERE, THERE = Place("train.py", 7, "main"), Place("train.py", 9, "main")


def parameter(*shape: int) -> nn.Parameter:
    return nn.Parameter(torch.zeros(shape or (2,)))


_kept: list[Tensor] = []
"""An account holds its parameter by a weak reference."""


def opened(name: str = "w") -> Account:
    _kept.append(parameter())
    return Account(_kept[-1], 0, name)


def one_pass(number: int, steps: int = 0) -> Deposit:
    return Deposit(number, HERE, (("train.py", 7),), steps, False, False)


def to_empty() -> Account:
    return opened()


def to_zero() -> Account:
    account = opened()
    account.clear(ZERO)
    return account


def to_fresh() -> Account:
    account = opened()
    account.deposit(one_pass(1), thread=0)
    account.deposit(one_pass(2), thread=0)
    return account


def to_used() -> Account:
    account = to_fresh()
    account.use(3)
    return account


def to_skipped() -> Account:
    account = to_fresh()
    account.skip()
    return account


STATUS = {EMPTY: to_empty, ZERO: to_zero, FRESH: to_fresh, USED: to_used, SKIPPED: to_skipped}


def passes(deposits: list[Deposit]) -> list[int]:
    return [one.number for one in deposits]


# ------------------------------------------------------------------ the six transitions

TRANSITIONS: dict[str, Callable[[Account], Any]] = {
    "deposit": lambda account: account.deposit(one_pass(5), thread=4),
    "clear to none": lambda account: account.clear(EMPTY),
    "clear to zeros": lambda account: account.clear(ZERO),
    "edit": lambda account: account.edit(HERE),
    "assign": lambda account: account.assign(HERE),
    "use": lambda account: account.use(7),
    "skip": lambda account: account.skip(),
}

BECOMES = {
    "deposit": {
        EMPTY: (FRESH, [5], ""),
        ZERO: (FRESH, [5], ""),
        FRESH: (FRESH, [1, 2, 5], ""),
        USED: (FRESH, [5], USED),
        SKIPPED: (FRESH, [1, 2, 5], SKIPPED),
    },
    "clear to none": dict.fromkeys(STATUS, (EMPTY, [], "")),
    "clear to zeros": dict.fromkeys(STATUS, (ZERO, [], "")),
    "edit": {
        EMPTY: (EMPTY, [], ""),
        ZERO: (FRESH, [], ""),
        FRESH: (FRESH, [1, 2], ""),
        USED: (FRESH, [], ""),
        SKIPPED: (SKIPPED, [1, 2], ""),
    },
    "assign": {
        EMPTY: (FRESH, [], ""),
        ZERO: (FRESH, [], ""),
        FRESH: (FRESH, [1, 2], ""),
        USED: (FRESH, [], ""),
        SKIPPED: (FRESH, [], ""),
    },
    "use": {
        EMPTY: (EMPTY, [], ""),
        ZERO: (ZERO, [], ""),
        FRESH: (USED, [], ""),
        USED: (USED, [], ""),
        SKIPPED: (USED, [], ""),
    },
    "skip": {
        EMPTY: (EMPTY, [], ""),
        ZERO: (ZERO, [], ""),
        FRESH: (SKIPPED, [1, 2], ""),
        USED: (SKIPPED, [], ""),
        SKIPPED: (SKIPPED, [1, 2], ""),
    },
}
"""By transition and status before it: the status after it, the passes held then, and what they are mixed with."""

PAIRS = list(itertools.product(TRANSITIONS, STATUS))


@pytest.mark.parametrize(("transition", "before"), PAIRS)
def test_a_transition_leaves_the_status_of_the_table(transition: str, before: str) -> None:
    account = STATUS[before]()
    assert account.status == before
    TRANSITIONS[transition](account)
    assert (account.status, passes(account.deposits), account.mixed) == BECOMES[transition][before]


@pytest.mark.parametrize(("transition", "before"), PAIRS)
def test_a_transition_returns_what_it_found(transition: str, before: str) -> None:
    for read in (False, True):
        account = STATUS[before]()
        if read:
            account.held(THERE)
        returned = TRANSITIONS[transition](account)
        if transition == "deposit":
            assert returned == before
            continue
        assert isinstance(returned, Thrown)
        assert (returned.status, returned.taken) == (before, read)
        assert passes(returned.deposits) == ([1, 2] if before == FRESH else [])


def test_the_table_holds_every_transition_and_every_status() -> None:
    body = next(node for node in ast.parse(source(account_module)).body if getattr(node, "name", "") == "Account")
    assert isinstance(body, ast.ClassDef)
    lines = source(account_module).splitlines()
    first = next(at for at, line in enumerate(lines, 1) if line.strip().endswith("- transitions"))
    last = next(at for at, line in enumerate(lines, 1) if line.strip().endswith("- what is known of the values"))
    written = {node.name for node in body.body if isinstance(node, ast.FunctionDef) and first < node.lineno < last}
    assert {name for name in written if not name.startswith("_")} == {key.split()[0] for key in TRANSITIONS}
    assert {key: set(row) for key, row in BECOMES.items()} == dict.fromkeys(TRANSITIONS, set(STATUS))


def test_a_deposit_is_counted_and_remembers_its_pass_and_thread() -> None:
    account = to_fresh()
    account.held(HERE)
    account.deposit(one_pass(9), thread=4)
    assert (account.total, account.seen, account.thread, account.taken) == (3, 9, 4, False)
    account.clear(EMPTY)
    assert (account.total, account.seen) == (3, 9)


def test_what_was_mixed_with_used_gradients_stays_so_until_the_step() -> None:
    account = to_used()
    account.deposit(one_pass(5), 0)
    account.deposit(one_pass(6), 0)
    assert account.mixed == USED
    account.skip()
    account.deposit(one_pass(7), 0)
    assert account.mixed == USED  # the graver of the two
    account.use(0)
    assert account.mixed == ""


def test_of_passes_that_nobody_uses_the_first_and_the_last_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(account_module, "MOST_DEPOSITS", 4)
    account = opened()
    held = []
    for number in range(6):
        account.deposit(one_pass(number), 0)
        held.append(passes(account.deposits))
    assert held[3:] == [[0, 1, 2, 3], [0, 4], [0, 4, 5]]
    assert account.total == 6


def test_a_clear_forgets_all_but_what_was_ever_true() -> None:
    account = to_used()
    account.assign(HERE)
    account.deposit(one_pass(5), 0)
    account.increments.append(torch.zeros(2))
    account.held(HERE)
    account.found_nonfinite()
    account.clear(EMPTY)
    assert (account.increments, account.assigned, account.used_by, account.read, account.taken) == ([],) + (
        None,
    ) * 3 + (False,)
    assert account.finite and account.given and account.total == 3


def test_a_step_says_who_used_it_and_keeps_nothing_of_the_window() -> None:
    account = to_fresh()
    account.assign(HERE)
    account.increments.append(torch.zeros(2))
    account.keep_piece(1.0)
    account.found_nonfinite()
    account.held(HERE)
    account.use(-1)
    assert account.used_by == -1
    assert (account.increments, account.pieces, account.assigned, account.taken) == ([], [], None, False)
    assert account.finite


@pytest.mark.parametrize("before", STATUS)
def test_a_step_names_itself_only_where_there_was_something_to_use(before: str) -> None:
    account = STATUS[before]()
    account.use(8)
    assert account.used_by == (8 if before in (FRESH, USED, SKIPPED) else None)


@pytest.mark.parametrize("before", STATUS)
def test_an_assignment_is_the_users_own_gradient(before: str) -> None:
    account = STATUS[before]()
    account.held(THERE)
    account.assign(HERE)
    assert (account.assigned, account.given, account.taken) == (HERE, True, False)
    account.assign(None)
    assert account.assigned == Place("?", 0)


@pytest.mark.parametrize("before", STATUS)
def test_an_edit_of_zeros_gives_and_one_of_used_gradients_puts_back(before: str) -> None:
    account = STATUS[before]()
    account.edit(HERE)
    assert account.assigned == (HERE if before in (ZERO, USED) else None)
    assert account.given == (before == ZERO)


def test_a_gradient_from_before_the_ledger_is_fresh_and_of_no_known_pass() -> None:
    held = parameter()
    held.grad = torch.ones(2)
    account = Account(held, 0, "w")
    assert (account.status, account.deposits, account.version) == (FRESH, [], held.grad._version)


def test_an_account_keeps_no_parameter_alive() -> None:
    held = parameter()
    held.grad = torch.ones(2)
    account = Account(held, 0, "w")
    assert account.grad is held.grad
    del held
    assert account.ref() is None and account.grad is None


def test_pieces_are_remembered_up_to_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(account_module, "MOST_PIECES", 2)
    account = opened()
    for piece in (1.0, 2.0, 3.0):
        account.keep_piece(piece)
    assert account.pieces == [1.0, 2.0]


def test_a_look_settles_what_is_known_of_the_value_and_nothing_else() -> None:
    account = to_fresh()
    account.held(HERE)
    account.before, account.clipped = 2.0, True
    account.looked(11, 1 + 2j)
    assert (account.version, account.digest, account.read, account.clipped, account.before) == (
        11,
        1 + 2j,
        None,
        False,
    ) + (None,)
    assert (account.status, passes(account.deposits), account.taken) == (FRESH, [1, 2], True)


# ------------------------------------------------------------------ nobody else writes what a gradient holds


def source(module: Any) -> str:
    return Path(module.__file__).read_text(encoding="utf-8")


def section() -> frozenset[str]:
    """The fields that `Account.__slots__` lists under "what its gradient holds"."""
    slots = source(account_module).split("# what its gradient holds", 1)[1].split("# what was known", 1)[0]
    return frozenset(re.findall(r'"(\w+)"', slots))


CHANGING = ("append", "extend", "insert", "clear", "pop", "remove", "sort", "reverse", "add", "update")
HOMONYMS = {("draft", "thread"), ("state", "assigned")}
"""Fields of the same name of something else: the thread of a draft, the tensors that `State` has seen assigned."""


def writes(tree: ast.AST, names: frozenset[str]) -> Iterator[tuple[int, str, str]]:
    """Line, object and field of everything that changes one of these fields of an object."""
    for node in ast.walk(tree):
        changed: ast.expr | None = None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGING:
            changed = node.func.value
        elif isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            changed = node.value
        elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            changed = node
        if isinstance(changed, ast.Attribute) and changed.attr in names:
            yield changed.lineno, ast.unparse(changed.value), changed.attr


def test_the_section_is_read_and_a_write_is_seen() -> None:
    assert {"status", "deposits", "mixed", "taken", "increments", "pieces", "used_by"} <= section()
    assert not section() & {"name", "owners", "version", "read", "digest"}
    planted = ["a.status = 1", "a.total += 1", "a.b.deposits.append(1)", "a.pieces[0] = 1", "del a.mixed"]
    planted += ["x, a.taken = 1, 2", "for a.seen in b: pass", "a.pieces[1:].clear()"]
    found = [[field for _, _, field in writes(ast.parse(line), section())] for line in planted]
    assert found == [["status"], ["total"], ["deposits"], ["pieces"], ["mixed"], ["taken"], ["seen"], []]
    assert list(writes(ast.parse("b = a.status; a.version = 1; a.deposits.count(2)"), section())) == []


def test_nobody_but_the_account_writes_what_a_gradient_holds() -> None:
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.name == "account.py":
            continue
        for line, thing, name in writes(ast.parse(path.read_text(encoding="utf-8")), section()):
            if thing != "self" and (thing, name) not in HOMONYMS:
                found.append(f"{path.relative_to(PACKAGE)}:{line} {thing}.{name}")
    assert found == []


ALSO_WRITES = {
    "__init__": "begins with nothing",
    "held": "`taken`: somebody read it",
    "found_nonfinite": "`finite`: somebody looked",
    "came_again": "`total` and `seen`: windows that were counted, not written",
    "keep_increment": "`increments`: what is held after a deposit, for a reference",
    "keep_piece": "`pieces`: a sum over what is about to be thrown away",
}


def test_inside_the_account_the_transitions_alone_write_it() -> None:
    tree = ast.parse(source(account_module))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    found = {one.name for one in functions if any(thing == "self" for _, thing, _ in writes(one, section()))}
    found -= {one.name for one in functions if one.name == "__init__"}
    assert found == {key.split()[0] for key in TRANSITIONS} | (set(ALSO_WRITES) - {"__init__"})


# ------------------------------------------------------------------ the budget


def test_a_budget_counts_each_doubt_by_itself() -> None:
    budget = Budget()
    assert [budget.may_look("norms", 2) for _ in range(4)] == [True, True, False, False]
    assert budget.may_look(("held", HERE), 1) and not budget.may_look(("held", HERE), 1)
    assert budget.may_look(("held", THERE), 1)


def test_a_budget_has_a_usual_size_and_a_look_that_paid_is_free() -> None:
    budget = Budget()
    assert sum(budget.may_look("zeros") for _ in range(LOOKS + 5)) == LOOKS
    budget = Budget()
    for _ in range(3 * LOOKS):
        assert budget.may_look("zeros")
        budget.refund("zeros")


# ------------------------------------------------------------------ the journal


def state() -> State:
    return State(None, None, False, lambda *_: None)


def test_events_are_numbered_as_they_happen_and_hold_names_known_late() -> None:
    book, account = Journal(), opened("parameter0")
    first = book.emit(Clear, HERE, [account], 0, 3, {"how": "none"})
    second = book.emit(Step, THERE, (), 4, 3, {"optimizer": 0, "stale": [account], "mixed": {USED: [account]}})
    account.name = "layer.weight"
    cleared, stepped = first.event(), second.event()
    assert (cleared.number, cleared.step, cleared.window, cleared.thread, cleared.where) == (0, 0, 3, 0, HERE)
    assert (stepped.number, stepped.step, cleared.names) == (1, 4, ("layer.weight",))
    assert isinstance(stepped, Step) and stepped.stale == ("layer.weight",)
    assert stepped.mixed == {USED: ("layer.weight",)}


def test_names_are_put_into_what_an_event_holds_and_places_stay() -> None:
    account = opened("w")
    names: Any = (account,)
    crossing = Crossing(names, (1, 2), HERE, (("train.py", 7),), (("train.py", 9),))
    draft = Journal().emit(Step, None, (), 0, 0, {"crossed": crossing, "last_pass_at": HERE})
    event = draft.event()
    assert isinstance(event, Step) and event.crossed is not None
    assert event.crossed.names == ("w",) and event.crossed.first is HERE and event.last_pass_at is HERE


def test_a_field_that_the_event_does_not_have_is_an_error() -> None:
    for kind, fields in ((Clear, {"how": "none", "loss": 1}), (Backward, {"pass_number": 1, "passnumber": 1})):
        draft = Journal().emit(kind, HERE, (), 0, 0, fields)
        with pytest.raises(TypeError, match="unexpected keyword"):
            draft.event()
    with pytest.raises(TypeError, match="missing"):
        Journal().emit(Clear, HERE, (), 0, 0, {}).event()


class Stepper:
    """All that the books ask of an optimizer. Torch's own take seconds to import what they may need."""

    def __init__(self, *parameters: Tensor) -> None:
        self.param_groups = [{"params": list(parameters)}]


def test_the_event_of_a_parameter_stands_in_the_window_of_its_optimizer() -> None:
    one, held = state(), parameter()
    optimizer = Stepper(held)
    entry = one.optimizer(optimizer)
    entry.steps, one.progress.most_steps = 5, 9
    account = one.books.open(held)
    assert one.emit(Clear, HERE, [account], how="none").window == 5
    assert one.join(Clear, THERE, account, "none", how="none").window == 5
    assert one.emit(Forward, HERE, model="Net").window == 9


def test_ten_parameters_cleared_on_one_line_are_one_event() -> None:
    one, accounts = state(), [opened(f"p{number}") for number in range(10)]
    for account in accounts:
        one.join(Clear, HERE, account, "none", how="none")
        one.join(Clear, HERE, account, "none", how="none")
    (draft,) = one.journal.drafts
    assert draft.event().names == tuple(f"p{number}" for number in range(10))


@pytest.mark.parametrize(
    ("kind", "place", "key"),
    [
        pytest.param(Edit, HERE, "none", id="another kind"),
        pytest.param(Clear, THERE, "none", id="another line"),
        pytest.param(Clear, HERE, "zeros", id="another key"),
    ],
)
def test_what_differs_is_an_event_of_its_own(kind: Any, place: Place, key: str) -> None:
    one = state()
    one.join(Clear, HERE, opened("a"), "none", how="none")
    one.join(kind, place, opened("b"), key, how="none")
    assert [draft.event().names for draft in one.journal.drafts] == [("a",), ("b",)]


def test_a_group_is_open_until_it_is_closed() -> None:
    one = state()
    one.join(Clear, HERE, opened("a"), "none", how="none")
    one.journal.close_groups()
    one.join(Clear, HERE, opened("b"), "none", how="none")
    assert [draft.event().names for draft in one.journal.drafts] == [("a",), ("b",)]


def test_anything_else_ends_a_clip() -> None:
    one = state()
    one.journal.clipping = one.emit(Clear, HERE, how="none")
    one.emit(Forward, HERE, model="Net")
    assert one.journal.clipping is None


def test_a_step_stands_where_its_update_happens() -> None:
    book = Journal()
    step = book.emit(Step, HERE, (), 0, 0, {})
    book.emit(Forward, HERE, (), 0, 0, {})
    book.happens_now(step)
    book.emit(Clear, HERE, (), 0, 0, {})
    assert [(draft.kind, draft.number) for draft in book.drafts] == [(Forward, 1), (Step, 2), (Clear, 3)]


def test_the_last_event_of_a_kind_is_found() -> None:
    book = Journal()
    drafts = [book.emit(kind, HERE, (), 0, 0, {}) for kind in (Forward, Step, Forward, SchedulerStep)]
    assert book.last(Forward) is drafts[2] and book.last(Step, Forward) is drafts[2]
    assert book.last(Accumulate) is None


def kept(windows: list[list[tuple[Any, Place, dict[str, Any]]]], monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Which of these windows a journal keeps that keeps two, and then two of one shape."""
    monkeypatch.setattr(journal, "KEPT", 2)
    monkeypatch.setattr(journal, "ALIKE", 2)
    book = Journal()
    for number, window in enumerate(windows):
        for kind, place, fields in window:
            book.emit(kind, place, (), number, number, fields)
        book.window_closed()
    numbers = [draft.number for draft in book.drafts]
    assert numbers == sorted(set(numbers))
    steps = sorted({draft.step for draft in book.drafts})
    assert book.dropped == len(windows) - len(steps)
    return steps


PLAIN: list[tuple[Any, Place, dict[str, Any]]] = [
    (Forward, HERE, {}),
    (Clear, HERE, {}),
    (Step, HERE, {"passes": 1}),
]


def test_of_windows_alike_a_few_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    assert kept([PLAIN] * 9, monkeypatch) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "odd",
    [
        pytest.param([PLAIN[0], PLAIN[2]], id="an event is missing"),
        pytest.param([PLAIN[0], PLAIN[1], (Step, THERE, {"passes": 1})], id="another line"),
        pytest.param([PLAIN[0], PLAIN[1], (Step, HERE, {"passes": 2})], id="another number of passes"),
        pytest.param([PLAIN[0], (Clear, HERE, {"lost": 1}), PLAIN[2]], id="gradients are lost"),
        pytest.param([*PLAIN[:2], (Step, HERE, {"passes": 1, "stale": ["w"]})], id="a gradient is used again"),
        pytest.param([(Accumulate, HERE, {"onto_used": ["w"]}), *PLAIN], id="added onto used ones"),
        pytest.param([*PLAIN[:2], (Step, HERE, {"passes": 1, "finite": False})], id="nan is stepped on"),
        pytest.param([(Backward, HERE, {"again": [1]}), *PLAIN], id="a loss goes backward again"),
        pytest.param([(Edit, HERE, {"overwrote": ["w"]}), *PLAIN], id="a gradient is overwritten"),
    ],
)
def test_a_window_unlike_the_others_is_kept_however_late(odd: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    assert kept([*[PLAIN] * 7, odd, *[PLAIN] * 2, odd, odd], monkeypatch) == [0, 1, 2, 3, 7, 10]


def test_what_is_beside_the_point_does_not_make_a_window_unlike(monkeypatch: pytest.MonkeyPatch) -> None:
    windows = [[*PLAIN[:2], (Step, HERE, {"passes": 1, "norm": float(number)})] for number in range(7)]
    assert kept(windows, monkeypatch) == [0, 1, 2, 3]


# ------------------------------------------------------------------ what stands around a line


def around(text: str, tmp_path: Path) -> tuple[int | None, str, int | None]:
    """What is said of the line with `# here`, called from those with `# call 1`, `# call 2`: which `# under` it stands
    under, that condition, and which `# over` passes over it, by the numbers behind these words."""
    path = tmp_path / "train.py"
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    lines = path.read_text(encoding="utf-8").splitlines()

    def marked(mark: str) -> list[int]:
        return [at for at, line in enumerate(lines, 1) if re.search(rf"# {mark}\b", line)]

    (here,) = marked("here")
    trail = [here, *(line for call in ("call 1", "call 2") for line in marked(call))]
    found = conditions.of_step(Place(str(path), here, "main"), tuple((str(path), line) for line in trail))

    def number(place: Place | None, word: str) -> int | None:
        if place is None:
            return None
        assert place.file == str(path)
        said = re.search(rf"# {word} (\d)", lines[place.line - 1])
        return int(said[1]) if said else -place.line

    return number(found["under"], "under"), found["condition"], number(found["passed_over"], "over")


AROUND = {
    "a flag that counts, around an if that does not": (
        """
        for i in data:
            ends = (i + 1) % 4 == 0  # under 1
            if ends:
                if scaler is None:
                    step()  # here
        """,
        (1, "(i + 1) % 4 == 0", None),
    ),
    "a flag that passes over the step": (
        """
        for i in data:
            ends = (i + 1) % 4 == 0  # under 1
            if not ends:
                continue
            step()  # here
        """,
        (1, "(i + 1) % 4 == 0", None),
    ),
    "an if that counts around a loop over optimizers": (
        """
        for i in data:
            backward()
            if (i + 1) % 4 == 0:  # under 1
                for optimizer in optimizers:
                    if ready:
                        step()  # here
        """,
        (1, "(i + 1) % 4 == 0", None),
    ),
    "an if around the loop over the data": (
        """
        if epoch % 2 == 0:
            for i in data:
                loss.backward()
                if ready:  # under 1
                    step()  # here
        """,
        (1, "ready", None),
    ),
    "an argument that a caller gives": (
        """
        def take(loss, update=True):
            if update:
                step()  # here
        for i in data:
            take(loss,  # call 1
                 update=(i + 1) % 4 == 0)  # under 1
        """,
        (1, "(i + 1) % 4 == 0", None),
    ),
    "nothing": (
        """
        for batch in data:
            step()  # here
        """,
        (None, "", None),
    ),
    "an if": (
        """
        for i in data:
            if (i + 1) % 4 == 0:  # under 1
                step()  # here
        """,
        (1, "(i + 1) % 4 == 0", None),
    ),
    "the inner of two": (
        """
        if a:
            for i in data:
                if b:  # under 1
                    step()  # here
        """,
        (1, "b", None),
    ),
    "an if around a loop over optimizers": (
        """
        for i in data:
            if i % 4 == 0:  # under 1
                for optimizer in optimizers:
                    optimizer.step()  # here
        """,
        (1, "i % 4 == 0", None),
    ),
    "a continue before an if around a loop over optimizers": (
        """
        for i in data:
            if bad:
                continue  # over 1
            if i % 4 == 0:  # under 1
                for optimizer in optimizers:
                    optimizer.step()  # here
        """,
        (1, "i % 4 == 0", 1),
    ),
    "an if in a helper around a loop over optimizers": (
        """
        def update(i):
            if i % 4 == 0:  # under 1
                for optimizer in optimizers:
                    optimizer.step()  # here

        for i in data:
            update(i)  # call 1
        """,
        (1, "i % 4 == 0", None),
    ),
    "an elif": (
        """
        for i in data:
            if a:
                pass
            elif b:  # under 2
                step()  # here
        """,
        (2, "b", None),
    ),
    "an else stands under no if": (
        """
        for i in data:
            if a:
                pass
            else:
                step()  # here
        """,
        (None, "", None),
    ),
    "an if on several lines": (
        """
        for i in data:
            if (  # under 1
                i == 3
            ):
                step(  # here
                )
        """,
        (1, "i == 3", None),
    ),
    "a continue before it": (
        """
        for i in data:
            if bad:
                continue  # over 1
            step()  # here
        """,
        (None, "", 1),
    ),
    "the last of several": (
        """
        for i in data:
            if bad:
                continue  # over 1
            if worse:
                continue  # over 2
            if i % 4 == 0:  # under 1
                if bad:
                    continue  # over 3
                step()  # here
            continue  # over 4
        """,
        (1, "i % 4 == 0", 2),
    ),
    "a continue behind it": (
        """
        for i in data:
            step()  # here
            if bad:
                continue  # over 1
        """,
        (None, "", None),
    ),
    "a continue of another loop": (
        """
        for i in data:
            for j in other:
                if bad:
                    continue  # over 1
            step()  # here
        """,
        (None, "", None),
    ),
    "a continue of the outer loop": (
        """
        for i in data:
            if bad:
                continue  # over 1
            for j in other:
                step()  # here
        """,
        (None, "", None),
    ),
    "a while loop": (
        """
        while True:
            if bad:
                continue  # over 1
            step()  # here
        """,
        (None, "", 1),
    ),
    "a return leaves a function, not a loop": (
        """
        def train():
            if bad:
                return  # over 1
            for i in data:
                step()  # here
        """,
        (None, "", None),
    ),
    "a return": (
        """
        def training_step(i):
            for j in other:
                if bad:
                    return  # over 1
            if i % 4 == 0:  # under 1
                step()  # here
            return  # over 2
        """,
        (1, "i % 4 == 0", 1),
    ),
    "a return of a function inside": (
        """
        def train():
            def helper():
                return 1  # over 1
            step()  # here
        """,
        (None, "", None),
    ),
    "finally runs whatever happens": (
        """
        for i in data:
            try:
                if bad:
                    continue  # over 1
            finally:
                step()  # here
        """,
        (None, "", None),
    ),
    "what stands behind a try is passed over": (
        """
        for i in data:
            try:
                if bad:
                    continue  # over 1
            finally:
                tidy()
            step()  # here
        """,
        (None, "", 1),
    ),
    "an except that continues": (
        """
        for i in data:
            try:
                work()
            except ValueError:
                continue  # over 1
            step()  # here
        """,
        (None, "", 1),
    ),
    "a helper called from the loop": (
        """
        def update():
            step()  # here

        for i in data:
            if bad:
                continue  # over 1
            if i % 4 == 0:  # under 1
                update()  # call 1
        """,
        (1, "i % 4 == 0", 1),
    ),
    "of two ifs the one that counts": (
        """
        def update(clip):
            if clip:  # under 2
                step()  # here

        for i in data:
            if i % 4 == 0:  # under 1
                update()  # call 1
        """,
        (1, "i % 4 == 0", None),
    ),
    "the inner if, where neither counts": (
        """
        def update(clip):
            if clip:  # under 2
                step()  # here

        for i in data:
            if last:  # under 1
                update()  # call 1
        """,
        (2, "clip", None),
    ),
    "a helper of a helper": (
        """
        def inner():
            step()  # here

        def outer():
            if bad:
                return  # over 1
            inner()  # call 1

        for i in data:
            if i % 4 == 0:  # under 1
                outer()  # call 2
        """,
        (1, "i % 4 == 0", 1),
    ),
    "a file that is no Python": (
        """
        for i in data
            step()  # here
        """,
        (None, "", None),
    ),
}


@pytest.mark.parametrize("name", AROUND)
def test_when_a_step_is_taken_is_read_from_its_source(name: str, tmp_path: Path) -> None:
    text, wanted = AROUND[name]
    assert around(text, tmp_path) == wanted


def test_a_file_that_cannot_be_read_tells_nothing() -> None:
    nowhere = {
        "under": None,
        "condition": "",
        "never_last": "",
        "reported": None,
        "unread": None,
        "gathers": False,
        "passed_over": None,
        "behind": None,
        "turned_at": None,
        "on_last_of": None,
    }
    assert conditions.of_step(Place("<string>", 3), (("<string>", 3),)) == nowhere
    assert conditions.of_step(Place("/nowhere/train.py", 3), ()) == nowhere


LAST = "for {} in {}:\n    loss.backward()\n    if {}:\n        optimizer.step()\n"
LAST_TURNS = {
    ("i, x", "enumerate(loader)", "(i + 1) % k == 0 or i == len(loader)"): "i == len(loader)",
    ("i", "range(len(clips))", "i % k == k - 1 or len(clips) == i"): "len(clips) == i",
    # one below; counted from 1; another length; a name that may be anything
    ("i, x", "enumerate(loader)", "(i + 1) % k == 0 or i + 1 == len(loader)"): "",
    ("i, x", "enumerate(loader)", "(i + 1) % k == 0 or i == len(loader) - 1"): "",
    ("i, x", "enumerate(loader, 1)", "i % k == 0 or i == len(loader)"): "",
    ("i, x", "enumerate(loader, start=1)", "i % k == 0 or i == len(loader)"): "",
    ("i, x", "enumerate(loader)", "(i + 1) % k == 0 or i == len(others)"): "",
    ("i", "range(n)", "(i + 1) % k == 0 or i == n"): "",
}


@pytest.mark.parametrize("told", LAST_TURNS)
def test_a_last_turn_that_never_comes(told: tuple[str, str, str], tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text(LAST.format(*told))
    assert conditions.never_last(str(file), 3, told[2]) == LAST_TURNS[told]


BEHIND = """
for epoch in range(9):
    for {} in {}:
        x = batch.to(device)
        total = total + loss(model(x))
        one.backward()
        first.step()
    {}
    two.backward()
    second.step()
"""
LAST_ONES = {
    ("batch", "loader", "two = critic(batch)"): True,
    ("batch", "loader", "two = critic(x).mean()"): True,
    ("i, (batch, y)", "enumerate(loader)", "two = loss(critic(other), y)"): True,
    ("batch", "loader", "z = f(x); v = critic(z); two = v + 1"): True,
    # the counter; a sum over all turns; something new of that name; a step that is counted; what is only shown
    ("i, batch", "enumerate(loader)", "two = critic(other) * i"): False,
    ("batch", "loader", "two = total / 4"): False,
    ("batch", "loader", "x = draw(); two = critic(x)"): False,
    ("batch", "range(4)", "two = critic(batch)"): False,
    ("batch", "loader", "print(x); two = critic(other)"): False,
}


@pytest.mark.parametrize("told", LAST_ONES)
def test_a_step_behind_a_loop_is_asked_whether_its_loss_is_made_of_the_last_turn(
    told: tuple[str, str, str], tmp_path: Path
) -> None:
    file = tmp_path / "train.py"
    file.write_text(BEHIND.format(*told))
    found = conditions.of_step(Place(str(file), 10, "main"), ())["on_last_of"]
    assert found == (Place(str(file), 3) if LAST_ONES[told] else None)


def test_a_loop_that_only_goes_backward_trains_nothing_by_itself(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text(BEHIND.format("batch", "loader", "two = critic(batch)").replace("first.step()", "first()"))
    assert conditions.of_step(Place(str(file), 10, "main"), ())["on_last_of"] is None


WHOLE = {
    "the loop": """
        if __name__ == "__main__":
            for i in data:
                if bad:
                    continue  # over 1
                step()  # here
        """,
    "the function that holds the loop": """
        def main():
            for i in data:
                if bad:
                    continue  # over 1
                step()  # here

        if __name__ == "__main__":
            main()  # call 1
        """,
}


@pytest.mark.parametrize("name", WHOLE)
def test_what_stands_around_the_whole_run_decides_about_no_step(name: str, tmp_path: Path) -> None:
    assert around(WHOLE[name], tmp_path) == (None, "", 1)


# ------------------------------------------------------------------ what a loss was divided by


def node(loss: Tensor) -> Any:
    return loss.grad_fn


WEIGHT = torch.ones(3, 4, requires_grad=True)
X, Y = torch.randn(5, 4), torch.randn(5, 3)
CLASSES = torch.tensor([0, 1, 2, 0, 1])


def mse(target: Tensor = Y) -> Tensor:
    return F.mse_loss(X @ WEIGHT.T, target)


def entropy(**options: Any) -> Tensor:
    return F.cross_entropy(X @ WEIGHT.T, CLASSES, **options)


def divergence() -> Tensor:
    return F.kl_div((X @ WEIGHT.T).log_softmax(1), Y.softmax(1), reduction="batchmean")


def penalty() -> Tensor:
    return WEIGHT.square().sum()


def over_count(sums: int) -> Tensor:
    """As many sums over a count that is a tensor, as of what a mask leaves."""
    errors = (X @ WEIGHT.T - Y).square()
    total = errors.sum() if sums == 1 else errors[:2].sum() + errors[2:].sum()
    return total / torch.tensor(7.0)


SCALE = torch.tensor(1024.0)

LEFT_OUT = {"divisor": 4.0, "summands_by": (4,)}
DIVISIONS: dict[str, tuple[Callable[[], Tensor], bool, dict[str, Any]]] = {
    "a mean": (lambda: mse(), False, {"bare": True}),
    "a mean divided": (lambda: mse() / 4, False, {"divisor": 4.0}),
    "a mean over some of the targets": (
        lambda: F.cross_entropy(torch.randn(4, 3, requires_grad=True), torch.tensor([0, 2, -100, 1])) / 4,
        False,
        {"divisor": 4.0, "targets": 3},
    ),
    "a mean weighed by class": (
        lambda: F.cross_entropy(torch.randn(2, 3, requires_grad=True), torch.tensor([0, 2]), torch.ones(3)) / 4,
        False,
        {"divisor": 4.0},
    ),
    "divided twice": (lambda: mse() / 2 / 3, False, {"divisor": 6.0}),
    "multiplied by the inverse": (lambda: mse() * 0.25, False, {"bare": False}),
    "divided by no whole number": (lambda: mse() / 2.5, False, {"bare": False}),
    "divided by a tensor of integers": (lambda: mse() / torch.tensor(4), False, {"divisor": 4.0}),
    "divided by what has a gradient": (lambda: mse() / WEIGHT.sum(), False, {}),
    "divided and scaled": (lambda: mse() / 4 * SCALE, True, {"divisor": 4.0}),
    "scaled, and nobody said so": (lambda: mse() / 4 * SCALE, False, {}),
    "scaled alone": (lambda: mse() * SCALE, True, {"bare": True}),
    "a mean of something else divided": (lambda: (X @ WEIGHT.T).mean() / 4, False, {"bare": False}),
    "a sum divided": (lambda: penalty() / 4, False, {"counts": (4.0,)}),
    "a loss that sums": (lambda: F.mse_loss(X @ WEIGHT.T, Y, reduction="sum") / 4, False, {"counts": (4.0,)}),
    "a sum over a count and scaled": (lambda: penalty() / torch.tensor(3.0) * SCALE, True, {"counts": (3.0,)}),
    "a sum over a count, divided and scaled": (lambda: penalty() / torch.tensor(3.0) / 4 * SCALE, True, {}),
    "a sum over all that was summed": (lambda: penalty() / WEIGHT.numel(), False, {"means": True}),
    "a sum over more than was summed": (lambda: penalty() / (WEIGHT.numel() + 1), False, {}),
    "sums over counts": (lambda: penalty() / 4 + 0.5 * (penalty() / 2), False, {"counts": (2.0, 4.0)}),
    "a sum over a count beside a mean": (lambda: penalty() / 4 + mse(), False, {"counts": (4.0,)}),
    "a share of a sum over a count": (lambda: 0.25 * (penalty() / 4), False, {}),
    "smoothed labels": (lambda: entropy(label_smoothing=0.1), False, {"bare": True}),
    "smoothed labels divided": (lambda: entropy(label_smoothing=0.1) / 4, False, {"divisor": 4.0}),
    "two losses": (lambda: mse() + entropy(), False, {"means": True, "bare": True, "summands_by": ()}),
    "a difference": (lambda: mse() - 0.3 * entropy(), False, {"means": True, "bare": True, "summands_by": ()}),
    "one of several is a sum over a count": (
        lambda: mse() / 4 + (X @ WEIGHT.T - Y).square().sum() / 10,
        False,
        LEFT_OUT | {"undivided": "Div"},
    ),
    "two losses divided": (lambda: (mse() + entropy()) / 4, False, {"bare": False, "quotient": 4}),
    "the mean of two": (lambda: (mse() + entropy()) / 2, False, {"bare": False, "quotient": 2, "means": True}),
    "the mean of two, one with another sign": (
        lambda: (mse() + -(X @ WEIGHT.T).mean()) / 2,
        False,
        {"bare": False, "quotient": 2, "means": True},
    ),
    "a weight": (lambda: 0.1 * mse(), False, {"bare": False, "weighed": True}),
    "a weight that nobody writes": (lambda: 0.1234567 * mse(), False, {"bare": False}),
    "both divided": (lambda: mse() / 4 + entropy() / 4, False, {"bare": False, "summands_by": (4,)}),
    "the second left out": (
        lambda: mse() / 4 + entropy(),
        False,
        LEFT_OUT | {"undivided": "NllLoss"},
    ),
    "the first left out": (
        lambda: entropy() + mse() / 4,
        False,
        LEFT_OUT | {"undivided": "NllLoss"},
    ),
    "a weighted one left out": (
        lambda: mse() / 4 + 0.01 * penalty(),
        False,
        {"divisor": 4.0, "undivided": "Sum", "summands_by": (4,)},
    ),
    "weighted, one of them divided": (
        lambda: 0.7 * mse() / 4 + 0.3 * entropy(),
        False,
        {"divisor": 4.0, "undivided": "NllLoss", "summands_by": (4,)},
    ),
    "weighted sums over counts, one of them divided": (
        lambda: 0.7 * over_count(2) / 4 + 0.3 * over_count(1),
        False,
        {"divisor": 4.0, "undivided": "Div", "summands_by": (4,)},
    ),
    "weighted, both divided": (
        lambda: 0.7 * mse() / 4 + 0.3 * entropy() / 4,
        False,
        {"bare": False, "summands_by": (4,)},
    ),
    "a weight that holds the division": (
        lambda: mse() / 4 + (0.1 / 4) * penalty(),
        False,
        {"bare": False, "summands_by": (4,)},
    ),
    "two divisors": (lambda: mse() / 4 + entropy() / 2 + penalty(), False, {"bare": True, "summands_by": (2, 4)}),
    "a sum divided in which one is left out": (
        lambda: (mse() / 4 + entropy()) / 2,
        False,
        {"bare": False, "quotient": 2},
    ),
    "a summand divided by no whole number": (
        lambda: mse() / 4 + entropy() / 2.5,
        False,
        {"bare": False, "summands_by": (4,)},
    ),
    "a summand that is taken away": (
        lambda: mse() / 4 + (-0.01) * penalty(),
        False,
        {"bare": False, "summands_by": (4,)},
    ),
    "smoothed labels divided by no whole number": (lambda: entropy(label_smoothing=0.1) / 2.5, False, {"bare": False}),
    "weighed by a tensor and scaled": (lambda: mse() * torch.tensor(0.5) * SCALE, True, {}),
    "a mean over rows": (lambda: divergence(), False, {"bare": True}),
    "a mean over rows divided": (lambda: divergence() / 4, False, {"bare": False}),
    "a sum divided by no number of rows": (lambda: penalty() / 5, False, {"counts": (5.0,)}),
    "a mix of a mean and one over rows": (
        lambda: 0.7 * entropy() + 0.3 * divergence(),
        False,
        {"means": True, "bare": False, "summands_by": ()},
    ),
    "left out and scaled": (
        lambda: (mse() / 4 + entropy()) * SCALE,
        True,
        LEFT_OUT | {"undivided": "NllLoss"},
    ),
}


OF_OUTPUTS = {
    "the largest score": (lambda: (X @ WEIGHT.T).max(dim=1).values.sum(), True),
    "one class": (lambda: (X @ WEIGHT.T)[:, 0].sum(), True),
    "the score of each label": (lambda: (X @ WEIGHT.T).gather(1, CLASSES[:, None]).mean(), True),
    "one number": (lambda: (X @ WEIGHT.T)[0, 1], True),
    "all scores": (lambda: (X @ WEIGHT.T).mean(), True),
    "all scores in one row": (lambda: (X @ WEIGHT.T).view(-1).sum(), True),
    "squares of all scores": (lambda: (X @ WEIGHT.T).square().mean(), False),
    "scores, none picked": (lambda: (X @ WEIGHT.T)[:1], False),
    "minus the score of each label": (lambda: -(X @ WEIGHT.T).gather(1, CLASSES[:, None]).mean(), False),
    "a loss": (lambda: mse(), False),
}


@pytest.mark.parametrize("name", OF_OUTPUTS)
def test_whether_this_is_no_more_than_outputs_is_read_from_the_graph(name: str) -> None:
    make, wanted = OF_OUTPUTS[name]
    assert graph.is_of_outputs(node(make()), False) is wanted


AGAIN = {
    "by their number": (lambda: entropy() / len(CLASSES), 5),
    "by a tensor of it": (lambda: entropy() / torch.tensor(5), 5),
    "by that and a window": (lambda: entropy() / 5 / 8, 5),
    "by a window first": (lambda: entropy() / 8 / 5, 5),
    "by another number": (lambda: entropy() / 3, 0),
    "a mean that is no cross-entropy": (lambda: mse() / 5, 0),
    "not at all": (lambda: entropy(), 0),
    "a sum": (lambda: entropy(reduction="sum") / 5, 0),
}


@pytest.mark.parametrize("name", AGAIN)
def test_whether_a_mean_over_targets_is_divided_by_their_number_is_read_from_the_graph(name: str) -> None:
    make, wanted = AGAIN[name]
    assert graph.counted_again(node(make()), False) == wanted


ROWS_AGAIN = {
    "a mean over targets": (lambda: entropy() / len(CLASSES), 5),
    "a mean of squares, with what lies below the mean": (lambda: mse() / len(X), len(X)),
    "and by a window": (lambda: mse() / len(X) / 8, len(X)),
    "a mean by hand": (lambda: -(X @ WEIGHT.T).log_softmax(1).mean() / len(X), len(X)),
    "by another number": (lambda: mse() / (len(X) + 1), 0),
    "a sum": (lambda: (X @ WEIGHT.T).sum() / len(X), 0),
    "a sum of means": (lambda: (mse() + entropy()) / len(X), 0),
    "not at all": (lambda: mse(), 0),
}


@pytest.mark.parametrize("name", ROWS_AGAIN)
def test_whether_a_mean_is_divided_by_its_rows_is_read_from_the_graph(name: str) -> None:
    make, wanted = ROWS_AGAIN[name]
    assert graph.rows_again(node(make())) == wanted


def mixed(**fields: Any) -> Tensor:
    """The loss of a batch that was mixed of two: a weight for each of its labels."""
    return 0.3 * entropy(**fields) + 0.7 * entropy(**fields)


SHARES = {
    "a mean": (lambda: mse() / 4, (4,)),
    "a mean, twice": (lambda: mse() / 4 / 4, (4, 4)),
    "smoothed labels": (lambda: entropy(label_smoothing=0.1) / 4 / 4, (4, 4)),
    "a batch that was mixed": (lambda: mixed() / 4 / 4, (4, 4)),
    "a mixed one with smoothed labels": (lambda: mixed(label_smoothing=0.1) / 4 / 4, (4, 4)),
    "the mean of two": (lambda: mixed(label_smoothing=0.1) / 2 / 4, (4,)),
    "by nothing": (lambda: mixed(label_smoothing=0.1), ()),
    "a sum of sums": (lambda: (X.sum() * WEIGHT.sum() + WEIGHT.sum()) / 4, ()),
}


@pytest.mark.parametrize("name", SHARES)
def test_by_what_a_loss_was_divided_one_after_the_other(name: str) -> None:
    make, wanted = SHARES[name]
    assert graph.shares(node(make()), False) == wanted


OVER_COUNTS = {
    "a cross-entropy by a count and a window": (lambda: entropy(reduction="sum") / 20 / 4, ((4, 20), 5)),
    "by a tensor": (lambda: entropy(reduction="sum") / torch.tensor(20) / 4, ((4, 20), 5)),
    "a sum under a mask": (lambda: ((X @ WEIGHT.T) * (Y > 0)).sum() / 9, ((9,), 0)),
    "a sum of sums": (lambda: (0 + entropy(reduction="sum") + entropy(reduction="sum")) / 20 / 4, ((4, 20), 10)),
    "a sum that nothing divides": (lambda: entropy(reduction="sum"), ((), 0)),
    "a mean": (lambda: entropy() / 20 / 4, ((), 0)),
    "a sum and a mean": (lambda: (entropy(reduction="sum") + mse()) / 4, ((), 0)),
    "by what has a graph": (lambda: entropy(reduction="sum") / WEIGHT.sum(), ((), 0)),
}


def test_the_loss_scale_is_none_of_what_a_sum_was_divided_by() -> None:
    loss = (entropy(reduction="sum") / 20 / 4) * torch.tensor(65536.0)
    assert graph.over_counts(node(loss), scaled=True) == ((4, 20), 5)
    assert graph.over_counts(node(loss)) == ((), 0)


@pytest.mark.parametrize("name", OVER_COUNTS)
def test_what_a_sum_was_divided_by_is_read_from_the_graph(name: str) -> None:
    make, wanted = OVER_COUNTS[name]
    assert graph.over_counts(node(make())) == wanted


def test_the_rows_of_a_cross_entropy_in_a_checkpoint_are_told_without_its_tensors() -> None:
    runs = []

    def summed(x: Tensor) -> Tensor:
        runs.append(1)
        return F.cross_entropy(x @ WEIGHT.T, CLASSES, reduction="sum")

    loss = checkpoint(summed, X.clone().requires_grad_(), use_reentrant=False) / 20 / 4
    assert graph.over_counts(node(loss)) == ((4, 20), 5)
    assert len(runs) == 1, "asked for what a checkpoint has let go, it would run once more"


@pytest.mark.parametrize("name", DIVISIONS)
def test_what_a_loss_was_divided_by_is_read_from_its_graph(name: str) -> None:
    make, scaled, wanted = DIVISIONS[name]
    assert graph.divisions(node(make()), scaled) == wanted


@pytest.mark.parametrize(
    ("make", "scaled", "wanted"),
    [
        pytest.param(lambda: mse(), False, ("MseLoss", "mean"), id="a mean"),
        pytest.param(lambda: mse() / 4, False, ("Div", None), id="divided"),
        pytest.param(lambda: mse() * SCALE, True, ("MseLoss", "mean"), id="scaled"),
        pytest.param(lambda: mse() * SCALE, False, ("Mul", None), id="multiplied"),
        pytest.param(lambda: penalty(), False, ("Sum", None), id="a sum"),
        pytest.param(lambda: F.mse_loss(X @ WEIGHT.T, Y, reduction="sum"), False, ("MseLoss", "sum"), id="loss of sum"),
        pytest.param(lambda: (X @ WEIGHT.T).mean(), False, ("Mean", "mean"), id="mean by hand"),
        pytest.param(lambda: mse().double(), False, ("MseLoss", "mean"), id="another dtype"),
        pytest.param(lambda: divergence(), False, ("Div", "mean"), id="a mean over rows"),
    ],
)
def test_the_last_operation_of_a_loss(make: Callable[[], Tensor], scaled: bool, wanted: tuple[str, str | None]) -> None:
    assert graph.describe(node(make()), scaled) == dict(zip(("root", "reduction"), wanted, strict=True))


# ------------------------------------------------------------------ contrastive losses


def embeddings(rows: int = 6) -> tuple[Tensor, Tensor]:
    torch.manual_seed(0)
    layer = nn.Linear(4, 5)
    return layer(torch.randn(rows, 4)), layer(torch.randn(rows, 4))


def pairs(rows: int = 6, temperature: float = 1.0, target: Tensor | None = None) -> Tensor:
    one, other = embeddings(rows)
    return F.cross_entropy(one @ other.T / temperature, torch.arange(rows) if target is None else target)


def masked() -> Tensor:
    """SimCLR: all views against all, a view's own column masked, the right answer half the table further."""
    views = torch.cat(embeddings(3))
    table = (views @ views.T / 0.5).masked_fill(torch.eye(6, dtype=torch.bool), float("-inf"))
    return F.cross_entropy(table, (torch.arange(6) + 3) % 6)


def queued() -> Tensor:
    """Rows against those of a batch and of more."""
    one, other = embeddings()
    return F.cross_entropy(one[:4] @ other.T, torch.arange(4))


def both_ways() -> Tensor:
    one, other = embeddings()
    table, target = one @ other.T, torch.arange(6)
    return (F.cross_entropy(table, target) + F.cross_entropy(table.T, target)) / 2


def classified(rows: int, classes: int, target: Tensor) -> Tensor:
    return F.cross_entropy(nn.Linear(4, classes, bias=False)(torch.randn(rows, 4)), target)


def prototypes() -> Tensor:
    """Rows against as many learned vectors: each row is classified by itself."""
    return F.cross_entropy(embeddings()[0] @ torch.ones(6, 5, requires_grad=True).T, torch.arange(6))


def in_first_column() -> Tensor:
    """The right answers in the first column, all others behind it."""
    views, diagonal = torch.cat(embeddings(3)), torch.eye(6, dtype=torch.bool)
    table, same = views @ views.T, torch.eye(3, dtype=torch.bool).repeat(2, 2) & ~diagonal
    right, wrong = table[same].view(6, 1), table[~same & ~diagonal].view(6, -1)
    return F.cross_entropy(torch.cat([right, wrong], 1) / 0.1, torch.zeros(6, dtype=torch.long))


def supervised() -> Tensor:
    """Rows of one label pulled together, written out."""
    views, apart = torch.cat(embeddings(3)), 1 - torch.eye(6)
    table = views @ views.T / 0.1
    table = table - table.max(1, keepdim=True).values.detach()
    likely = table - torch.log((torch.exp(table) * apart).sum(1, keepdim=True))
    same = torch.eye(3).repeat(2, 2) * apart
    return -((same * likely).sum(1) / same.sum(1)).mean()


def by_exponentials() -> Tensor:
    one, other = embeddings(3)
    views = torch.cat([one, other])
    others = torch.exp(views @ views.T / 0.5).masked_select(~torch.eye(6, dtype=torch.bool)).view(6, -1)
    return -torch.log(torch.exp((one * other).sum(-1) / 0.5).repeat(2) / others.sum(-1)).mean()


def by_cosines() -> Tensor:
    views = torch.cat(embeddings(3))
    table = F.cosine_similarity(views[:, None], views[None], dim=-1)
    return (torch.logsumexp(table.masked_fill(torch.eye(6, dtype=torch.bool), -9e15), -1) - table[0]).mean()


def by_sums_of_products(of: Tensor) -> Tensor:
    return -torch.softmax(torch.einsum("nd,md->nm", embeddings()[0], of), 1).diag().log().mean()


def attention() -> Tensor:
    """Each row a mean over all of them: no table that a loss is made of."""
    one, other = embeddings(5)
    return -F.log_softmax(torch.softmax(one @ other.T, 1) @ other, 1).mean()


def discrepancy() -> Tensor:
    """A kernel over all pairs: nothing is told apart."""
    one, other = embeddings()
    return torch.exp(2 * one @ other.T - 2).mean()


def links() -> Tensor:
    one, other = embeddings()
    return F.binary_cross_entropy_with_logits(one @ other.T, torch.eye(6))


def beside_kept() -> Tensor:
    """All pairs of two micro-batches, of which one is constant: what was kept of it."""
    one, other = embeddings()
    kept = torch.randn(6, one.shape[1])
    return F.cross_entropy(torch.cat([kept, one]) @ torch.cat([kept, other]).T, torch.arange(12))


CONTRASTS: dict[str, tuple[Callable[[], Tensor], int]] = {
    "the right answers in the first column": (lambda: in_first_column(), 6),
    "written out, by labels": (lambda: supervised() / 4, 6),
    "written out, by exponentials": (lambda: by_exponentials() / 4, 6),
    "written out, by cosines": (lambda: by_cosines(), 6),
    "written out, by a sum of products": (lambda: by_sums_of_products(embeddings()[1]), 6),
    "written out, learned vectors": (lambda: by_sums_of_products(torch.ones(6, 5, requires_grad=True)), 0),
    "the diagonal of a log-softmax": (lambda: -F.log_softmax(embeddings()[0] @ embeddings()[1].T, 1).diag().mean(), 6),
    "attention": (lambda: attention(), 0),
    "one example, no batch": (lambda: F.cross_entropy(embeddings()[0][0], torch.tensor(0)), 0),
    "a kernel": (lambda: discrepancy(), 0),
    "links of a graph": (lambda: links(), 0),
    "all pairs of a batch": (lambda: pairs(), 6),
    "with a temperature, divided": (lambda: pairs(temperature=0.5) / 4, 6),
    "in both directions": (lambda: both_ways(), 6),
    "a view's own column masked": (lambda: masked(), 6),
    "shifted": (lambda: pairs(target=torch.arange(6).roll(2)), 6),
    "two rows": (lambda: pairs(rows=2), 2),
    "beside the rows of other micro-batches, which were kept": (lambda: beside_kept(), 0),
    "against more rows than its own": (lambda: queued(), 0),
    "a column is right for two rows": (lambda: pairs(target=torch.tensor([0, 1, 2, 3, 4, 4])), 0),
    "one row": (lambda: pairs(rows=1), 0),
    "more classes than rows": (lambda: classified(5, 8, torch.arange(5)), 0),
    "as many classes as rows": (lambda: classified(5, 5, torch.arange(5)), 0),
    "learned vectors": (lambda: prototypes(), 0),
    "no cross-entropy": (lambda: mse(), 0),
}


@pytest.mark.parametrize("name", CONTRASTS)
def test_a_loss_over_the_pairs_of_a_batch_is_told_from_a_classification(name: str) -> None:
    make, rows = CONTRASTS[name]
    assert graph.contrast(node(make())) == rows


# ------------------------------------------------------------------ what a loss holds


def test_how_often_a_graph_uses_its_leaves() -> None:
    layer, head, other = nn.Linear(4, 4), nn.Linear(4, 1), nn.Linear(4, 1)
    x = torch.randn(2, 4)
    loss = sum(head(layer(x)).sum() for _ in range(3))
    assert isinstance(loss, Tensor)
    used = graph.uses(node(loss))
    assert {used[id(p)] for p in (layer.weight, head.weight, head.bias)} == {3}
    assert id(other.weight) not in used and id(x) not in used


def test_a_leaf_that_autocast_has_cast_once_counts_as_often_as_it_is_used() -> None:
    layer = nn.Linear(4, 4)
    x = torch.randn(2, 4)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = layer(x).sum() + layer(x).sum()
    used = graph.uses(node(loss))
    assert {used[id(p)] for p in layer.parameters()} == {2}


def test_a_leaf_used_behind_a_shared_node_counts_once() -> None:
    layer = nn.Linear(4, 4)
    shared = layer(torch.randn(2, 4))
    assert graph.uses(node(shared.sum() + shared.square().sum()))[id(layer.weight)] == 1
    assert graph.uses(node(shared.detach().sum() + layer.bias.sum())) == {id(layer.bias): 1}


def test_a_graph_that_is_too_large_is_not_walked(monkeypatch: pytest.MonkeyPatch) -> None:
    value = WEIGHT.sum()
    for _ in range(20):
        value = value * 2
    assert graph.uses(node(value)) == {id(WEIGHT): 1}
    monkeypatch.setattr(graph, "MOST_NODES", 10)
    assert graph.uses(node(value)) == {}
