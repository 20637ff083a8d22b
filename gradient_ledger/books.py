"""The books: which parameters, optimizers and modules the ledger has met, and what they are called.

None of them keeps one alive.
"""

from __future__ import annotations

import gc
import inspect
import weakref
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import compress, count
from types import CodeType
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from gradient_ledger import source
from gradient_ledger.account import FRESH, Account, can_train
from gradient_ledger.compiled import is_product, plain_name, uncompiled
from gradient_ledger.events import Place
from gradient_ledger.places import USER, Call, forward_of, kind_of
from gradient_ledger.tensors import changing_print, is_zero

MISSPELT = ("require_grad", "requires_grads", "require_grads", "requires_gradient", "require_gradient", "required_grad")
"""What is written where `requires_grad` is meant."""
BATCH_NORMS = (nn.modules.batchnorm._BatchNorm,)


def living(kind: type) -> list[Any]:
    """All objects of a class or its subclasses that exist now. Costs some 50 ms; called a few times a run."""
    things = gc.get_objects()
    # By type, not by isinstance: proxies answer that by doing things. There are 300,000: no Python loop over them.
    types = {own for own in set(map(type, things)) if issubclass(own, kind)}
    return list(compress(things, map(types.__contains__, map(type, things))))


def _numbered(kind: str, number: int) -> str:
    """`Net`, `Net2`, `Net3` and so on."""
    return f"{kind}{number}" if number > 1 else kind


class Schedule:
    """One scheduler that is made for so many steps, and how many it took."""

    __slots__ = ("in_epochs", "kind", "length", "made_at", "named", "optimizer", "place", "steps", "type")

    def __init__(self, scheduler: Any, kind: str, optimizer: int, length: int, named: bool, in_epochs: str = ""):
        self.type = type(scheduler).__name__
        self.kind = kind
        """Its class, or of several in a row the last one's."""
        self.optimizer = optimizer
        self.length, self.named = length, named
        """Named: it says so itself. Else it is the largest number that its function holds."""
        self.in_epochs = in_epochs
        """That function, where it calls what it is given an epoch."""
        self.steps = 0
        self.place: Place | None = None
        self.made_at: Place | None = None


class OwnSchedule(NamedTuple):
    """A schedule of the user's own that is moved on in a loop around a backward pass."""

    kind: str
    """Its class."""
    place: Place
    """The line that moves it on."""
    loop: range
    """The lines of that loop."""
    lengths: tuple[int, ...]
    """The whole numbers that it holds, one of which may be for how many steps it is made."""


class Clock:
    """The learning rate of one optimizer from one backward pass to the next."""

    __slots__ = ("moves", "rate", "schedule", "shifts")

    def __init__(self) -> None:
        self.rate: float | None = None
        """At the last pass."""
        self.moves = 0
        """How often it was another one at the next pass of the same window, since the last step."""
        self.shifts = 0
        """The same, whatever moved it."""
        self.schedule: OwnSchedule | None = None
        """What moves it, where the text and the user's objects show one."""


class Dead(NamedTuple):
    """A matrix of zeros whose gradients are zeros."""

    looks: int
    """How many found it so."""
    kept: Tensor | None = None
    """The matrix, once there is a reason to ask at the end what it holds: its model may be gone by then."""


class Sample:
    """Some entries of half-precision matrices that one optimizer steps."""

    __slots__ = ("accounts", "before", "now", "rate")

    def __init__(self, accounts: list[Account]):
        self.accounts, self.rate = accounts, 0.0
        self.before: Tensor | None = None
        """The entries before the step under way; None where that is not looked at."""
        self.now: Tensor | None = None
        """Which of them have a gradient that is not zero."""


class Bare(NamedTuple):
    """A buffer that nothing has filled, as it was when the step that made it was skipped."""

    ref: weakref.ref[Tensor]
    version: int
    mark: float | None
    """What some of its entries came to."""


class OptimizerAccount:
    """One optimizer, the accounts it steps, and how often it did."""

    __slots__ = (
        "_smallest",
        "accounts",
        "clock",
        "bare",
        "code",
        "dead",
        "empty_group",
        "first_event",
        "first_print",
        "last_step",
        "follows",
        "lasted",
        "made",
        "made_after",
        "made_by",
        "number",
        "rates",
        "ref",
    ) + (
        "restored",
        "sample",
        "size",
        "steps",
        "taker",
        "type",
        "unreached",
        "without_momentum",
        "wrapper",
    )

    def __init__(self, optimizer: Any, number: int, made_by: tuple[Call, ...], made: int):
        self.ref = weakref.ref(optimizer)
        self.number = number
        self.type = type(optimizer).__name__
        self.code = getattr(inspect.unwrap(getattr(type(optimizer), "step", len)), "__code__", None)
        """Of its step."""
        self.accounts: list[Account] = []
        self.size = -1
        self.steps = 0
        self.rates = tuple(group.get("lr") for group in getattr(optimizer, "param_groups", ()))
        """The learning rates of its groups when it was met."""
        self.empty_group = any(not group["params"] for group in getattr(optimizer, "param_groups", ()))
        """Whether one of these held nothing then."""
        self.made_by = made_by
        """The user's calls that made it, innermost first."""
        self.taker: int | None = None
        """Which of these is that of the function that used it, once it has stepped."""
        self.made = made
        self.made_after, self.last_step = 0, 0
        """Steps of all optimizers before it was made, and up to its last one."""
        self.first_event = 0
        """Number of the first event after it was made."""
        self.follows: int | None = None
        """The optimizer that took its only step right before, and whose state this one does not have."""
        self.restored: Place | None = None
        """Where its state was loaded from a checkpoint since its last step."""
        self.lasted = True
        """Whether it was alive when we last looked: at the end everything may be gone."""
        self.dead: dict[Account, Dead] = {}
        """Its matrices that held nothing but zeros at every look, as did their gradients."""
        self.sample: Sample | None = None
        """Of its weights in half precision, once a step is looked at."""
        self.unreached: dict[Account, float | None] = {}
        """Its parameters that none of its steps found a gradient on, and what they held when we last looked."""
        self.bare: dict[Account, Bare] = {}
        """The momentum that skipped steps have made and left unfilled, until a step is taken."""
        self.without_momentum: list[Account] = []
        """What had none before the step under way, where that might make some and be skipped."""
        self.wrapper: Any = None
        """What the user's code has made around it, while that knows nothing of its steps."""
        self._smallest: Account | None = None
        self.clock = Clock()
        self.first_print: float | None = None
        """A print of its smallest parameter, taken at the first losses that went backward before it had stepped."""

    def smallest(self) -> Account | None:
        """The account of its smallest parameter that needs a gradient, or is given one: the cheapest to look at."""
        if self._smallest is None:
            held = [(p, a) for a in self.accounts if (p := a.ref()) is not None]
            mine = [(p.numel(), a) for p, a in held if can_train(p) or a.given]
            self._smallest = min(mine, key=lambda one: one[0])[1] if mine else None
        return self._smallest

    def print_now(self) -> float | None:
        """A print of its smallest parameter; None where that is gone."""
        smallest = self.smallest()
        parameter = smallest.ref() if smallest is not None else None
        return changing_print(parameter) if parameter is not None else None

    def has_moved(self) -> bool:
        """Whether that has another one than at the first losses."""
        now = self.print_now() if self.first_print is not None else None
        return now is not None and now != self.first_print

    @property
    def alive(self) -> bool:
        return self.ref() is not None

    @property
    def let_go(self) -> bool:
        """Whether it was gone before it ever stepped."""
        return not self.lasted and not self.steps


class Imitated:
    """A model that stands still and is imitated, or is used as it is, and ran in train mode."""

    __slots__ = ("changed", "kinds", "name", "print")

    def __init__(self, name: str, kinds: tuple[str, ...], print_: float | None):
        self.name = name
        """What the user's code calls it."""
        self.kinds = kinds
        """The classes of its parts that depend on the mode."""
        self.print = print_
        """A print of its weights at first."""
        self.changed = False
        """Whether they have moved since, or gradients or an optimizer have come to them."""


class EmptyNorm(NamedTuple):
    """A BatchNorm that runs in eval mode with the statistics that it was made with."""

    name: str
    """Its name and its class."""
    print: float | None
    """A print of its weights at the last look."""
    moved: int
    """How often they had another one than at the look before."""
    calls: int
    """Calls by the last look."""
    place: Place | None
    """Where its model was called."""


class ModuleAccount:
    """One module: how often it ran, where it first ran, where it was made."""

    __slots__ = (
        "awaits_graph",
        "back_bare",
        "bare",
        "bared_at",
        "called_at",
        "calls",
        "carried",
        "besides",
        "checkpoint",
        "forward",
        "holds",
        "imitated",
        "in_training",
        "judged",
        "kind",
        "known",
        "last",
        "leads",
        "made",
        "made_after",
        "made_at",
        "made_by",
        "name",
        "norm",
        "outer",
        "own_forward",
        "quiet",
        "ref",
        "root",
        "sequence",
        "not_thawed",
        "unfrozen",
        "window_calls",
    )

    @property
    def announced(self) -> bool:
        """Whether its calls are forwards of their own: the user calls it, and there is something to train in it."""
        return self.outer and self.holds and self.root is not None and self.root.number >= 0

    def __init__(self, module: nn.Module):
        self.ref = weakref.ref(module)
        self.kind = type(module).__name__
        self.name = ""
        self.root: Root | None = None
        self.calls = 0
        self.judged = 0
        """Its calls in eval mode without gradients."""
        self.window_calls = 0
        self.norm = isinstance(module, BATCH_NORMS)
        self.forward: CodeType | None = getattr(forward_of(type(module)), "__code__", None)
        """What runs when it is called."""
        self.own_forward = self.forward is not None and kind_of(self.forward.co_filename) == USER
        """Whether its forward is the user's, which may run and leave out a parameter that it holds."""
        self.carried, self.bare = 0, 0
        """For a recurrent cell: calls behind the first of a pass whose state had a graph, and whose state was the last
        one without its graph."""
        self.back_bare = False
        """Whether the call under way got such a bare state, as far as a closer look knows."""
        self.known: tuple[complex, ...] = ()
        """Sums over what it gave last during a closer look."""
        self.besides: tuple[complex, ...] = ()
        """Sums over what it was given last, besides what had come back to it."""
        self.bared_at: Place | None = None
        """The one place in the text around its calls that takes the state out of its graph."""
        self.last: complex | None = None
        """Sums over the state that it computed last."""
        self.sequence = -1
        """The pass that its last call was for."""
        self.holds = next(iter(module.parameters()), None) is not None
        """Whether it had parameters when it was met: an activation that several models share is none of them."""
        self.imitated: Imitated | None = None
        """Where the user's code calls it a teacher or has frozen it, and it ran in train mode."""
        self.awaits_graph = False
        """Whether it runs without a graph, by the text, and was never seen to get an input that has one."""
        self.leads: CodeType | None = None
        """The `forward` of its whole, if it is the part that ran first there."""
        self.outer = False
        """Whether the user's code called it itself, not through a larger module."""
        self.quiet = False
        """Nothing but counting is left to do when it runs: no model of its own, no BatchNorm, seen before."""
        self.called_at: Place | None = None
        self.made_at: Place | None = None
        self.made_by: tuple[Place, ...] = ()
        self.made = 0
        """When it was made, by the clock of `Books`; 0 for before the ledger was opened."""
        self.made_after = 0
        """How many steps had been taken."""
        self.checkpoint = False
        self.unfrozen: tuple[str, ...] = ()
        """The parameters in it that can be trained, where somebody wrote `requires_grad = False` on the module."""
        self.not_thawed: tuple[str, ...] = ()
        """Its parameters that an optimizer holds, where somebody wrote `requires_grad = True` and all are frozen."""
        self.in_training = module.training
        """Whether it was in train mode when we last looked."""

    def begin_again(self) -> None:
        """Another phase of training begins, with another optimizer: what ran before says nothing of it."""
        self.calls, self.called_at, self.checkpoint, self.quiet = 0, None, False, False


class Root:
    """A model as the user calls it: an outermost module."""

    __slots__ = ("handed_over", "kind", "label", "led", "named", "number", "parameters", "ref")

    def __init__(self, module: nn.Module, number: int, label: str):
        self.ref = weakref.ref(module)
        self.number = number
        self.label = label
        self.named = number != 0
        """Whether its name stands before those of its parameters. The first model has that only where it must be told
        from another one."""
        self.parameters = 0
        """How many were met in it so far."""
        self.handed_over = False
        """Whether it was handed to the ledger: then nothing is looked for around it."""
        self.led = False
        """Whether the part of it that runs first is known."""
        self.kind = ""
        if hasattr(module, "require_backward_grad_sync"):
            self.kind = "ddp"
        elif any(cls.__name__ == "FSDPModule" for cls in type(module).__mro__):
            self.kind = "fsdp"


class Early(NamedTuple):
    """Where a parameter was in a model that had not run."""

    ref: weakref.ref[nn.Module]
    label: str
    path: str


class Made(NamedTuple):
    """How a module was made, or how a parameter came into a module that had run without it."""

    ref: weakref.ref[nn.Module]
    place: Place | None
    by: tuple[Place, ...]
    when: int
    """By the clock of `Books`."""
    after: int
    """How many steps had been taken."""


def _is_stood_in_for(module: Any, path: str) -> bool:
    """Whether a plain tensor is where a parameter of a module has its place, as `functional_call` puts it there."""
    *parts, name = path.split(".")
    for part in parts:
        module = getattr(module, "_modules", {}).get(part)
    found = getattr(module, "_parameters", {}).get(name)
    return isinstance(found, Tensor) and not isinstance(found, nn.Parameter)


def is_frozen_zero(account: Account, parameter: Tensor) -> bool:
    """Whether a parameter is a matrix of zeros that nothing can change any more, and was not made so."""
    if account.owners or parameter.requires_grad or type(parameter) is not nn.Parameter or is_lazy(parameter):
        return False
    part = account.module.ref() if account.module is not None else None
    making = getattr(getattr(type(part), "__init__", None), "__code__", None)
    if making is not None and source.made_frozen(making.co_filename, account.name.rpartition(".")[2]):
        return False
    plain = parameter.layout == torch.strided and parameter.is_floating_point() and parameter.dim() > 1
    return plain and parameter.numel() > 0 and is_zero(parameter[0]) and is_zero(parameter)


class SchedulerMade(NamedTuple):
    """A scheduler that was made."""

    kind: str
    """Its class."""
    optimizer: int
    """The number of its optimizer."""
    place: Place | None
    """The user's line."""
    which: int
    """Its `id`."""
    made_by: tuple[Place, ...] = ()
    """The user's lines that led there, innermost first."""


class Books:
    """All accounts. Looked up by `id` and checked by weak reference, so that a reused id is never mistaken."""

    def __init__(self) -> None:
        self.accounts: list[Account] = []
        self.by_id: dict[int, Account] = {}
        self.optimizers: list[OptimizerAccount] = []
        self._optimizer_by_id: dict[int, OptimizerAccount] = {}
        self.modules: dict[int, ModuleAccount] = {}
        self.schedules: dict[int, Schedule] = {}
        """The schedulers that say how many steps they are made for, by id."""
        self.schedulers_made: list[SchedulerMade] = []
        self.scheduled: set[int] = set()
        """The numbers of optimizers of which a scheduler was stepped."""
        self.schedules_at: set[tuple[str, int]] = set()
        """The lines that stepped them."""
        self.norms: list[ModuleAccount] = []
        """The BatchNorms among these."""
        self.foreign: weakref.WeakValueDictionary[int, nn.Module] = weakref.WeakValueDictionary()
        """Modules that ran and are not watched."""
        self.roots: list[Root] = []
        self.shallow: list[str] = []
        """Labels of models that are shallow copies of others."""
        self.made: dict[int, Made] = {}
        """Where each module was made, and when: some modules cannot be hashed, so by id and weak reference."""
        self._clock = 0
        self._labels: Counter[str] = Counter()
        self._early: dict[str, weakref.ref[nn.Module]] = {}
        """Models whose parameters were named before they ran, by the label in those names."""
        self._root_count = 0

    # -------------------------------------------------------------- parameters

    def find(self, parameter: Tensor) -> Account | None:
        account = self.by_id.get(id(parameter))
        return account if account is not None and account.ref() is parameter else None

    def open(self, parameter: Tensor, name: str = "") -> Account:
        account = self.find(parameter)
        if account is None:
            account = Account(parameter, len(self.accounts), name or f"parameter{len(self.accounts)}")
            self.accounts.append(account)
            self.by_id[id(parameter)] = account
        return account

    # -------------------------------------------------------------- optimizers

    def optimizer(self, optimizer: Any, made_by: tuple[Call, ...] = (), made: int = 0) -> OptimizerAccount:
        """The account of an optimizer, opened if new; its parameters are looked at again when their number changed."""
        entry = self._optimizer_by_id.get(id(optimizer))
        if entry is None or entry.ref() is not optimizer:
            entry = OptimizerAccount(optimizer, len(self.optimizers), made_by, made)
            self.optimizers.append(entry)
            self._optimizer_by_id[id(optimizer)] = entry
        groups = getattr(optimizer, "param_groups", ())
        size = 0
        for group in groups:
            size += len(group["params"])
        if size != entry.size:
            entry.size = size
            self._own(entry, groups)
        return entry

    def look_at_groups(self) -> None:
        """Take over the parameters that now stand in the places of others in the groups of optimizers: wrappers for
        mixed precision put float32 copies there."""
        for entry in self.optimizers:
            optimizer = entry.ref()
            groups = getattr(optimizer, "param_groups", ()) if optimizer is not None else ()
            held = [p for group in groups for p in group["params"] if isinstance(p, Tensor)]
            before = [(account, account.ref()) for account in entry.accounts]
            if len(held) != len(before) or all(p is mine for p, (_, mine) in zip(held, before, strict=True)):
                continue
            for parameter, (account, mine) in zip(held, before, strict=True):
                if parameter is not mine:
                    account.owners.remove(entry)
                    account.owned = any(owner.alive for owner in account.owners)
                    if self.find(parameter) is None and self._named(parameter) is None:
                        self.open(parameter, f"{account.name} as {self.label(entry)} holds it")
            self._own(entry, groups)

    def number_of(self, optimizer: Any) -> int | None:
        """The number of an optimizer that has an account."""
        entry = self._optimizer_by_id.get(id(optimizer))
        return entry.number if entry is not None and entry.ref() is optimizer else None

    def made_schedule(self, scheduler: Any) -> Place | None:
        """The user's line that made a scheduler, where it was made while the ledger was open."""
        return next((one.place for one in reversed(self.schedulers_made) if one.which == id(scheduler)), None)

    def _own(self, entry: OptimizerAccount, groups: Iterable[dict[str, Any]]) -> None:
        accounts = []
        for number, group in enumerate(groups):
            for at, parameter in enumerate(group["params"]):
                if not isinstance(parameter, Tensor):
                    continue
                account = self.find(parameter) or self._named(parameter)
                if account is None:
                    account = self.open(parameter, f"{self.label(entry)}.param_groups[{number}][{at}]")
                if entry not in account.owners:
                    if account.owners and account.module is not None:
                        account.module.begin_again()
                    account.taken_frozen |= bool(entry.made) and not account.owners and not parameter.requires_grad
                    account.owners.append(entry)
                account.owned = True
                accounts.append(account)
        entry.accounts = accounts
        entry._smallest = None

    def _named(self, parameter: Tensor) -> Account | None:
        """A parameter met through its optimizer: a layer added to a known model, or one nobody has called yet."""
        for root in self.roots:
            module = root.ref()
            if module is None:
                continue
            for name, mine in module.named_parameters():
                if mine is parameter:
                    account = self.open(parameter, self.full_name(root, name))
                    account.root = root
                    return account
        return None

    def name_early(self) -> None:
        """Name the parameters of models that were made under this ledger and have not run.

        Such a model may be gone by the end, and its parameters live on in an optimizer.
        """
        nameless = {id(p): a for a in self.accounts if a.root is None and (p := a.ref()) is not None}
        if not nameless:
            return
        made = [m for one in self.made.values() if (m := one.ref()) is not None and "_modules" in vars(m)]
        parts = {id(part) for m in made for part in vars(m)["_modules"].values()}
        for module in made:
            own = [(nameless[id(p)], path) for path, p in module.named_parameters() if id(p) in nameless]
            if own and id(module) not in parts:
                label = self._early_label(module)
                for account, path in own:
                    account.early = Early(weakref.ref(uncompiled(module)), label, plain_name(path))
                    account.name = f"{label}.{account.early.path}"
                    account.made_by = self.made[id(module)].by

    def _early_label(self, module: nn.Module) -> str:
        for label, early in self._early.items():
            if early() is module:
                return label
        kind = type(module).__name__
        new = (_numbered(kind, number) for number in count(self._labels[kind] + 1))
        label = next(one for one in new if one not in self._early)
        self._early[label] = weakref.ref(module)
        return label

    def label(self, entry: OptimizerAccount) -> str:
        """`AdamW`, or `AdamW #2` where there are several."""
        return f"{entry.type} #{entry.number + 1}" if len(self.optimizers) > 1 else entry.type

    # -------------------------------------------------------------- modules

    def tick(self) -> int:
        """Counts what is made, so that one can say which of two things came first."""
        self._clock += 1
        return self._clock

    def waiting_passes(self) -> int:
        """Backward passes that no step has used yet, the most of any gradient."""
        return max((len(a.deposits) for a in self.accounts if a.status == FRESH), default=0)

    def module(self, module: nn.Module) -> ModuleAccount | None:
        entry = self.modules.get(id(module))
        return entry if entry is not None and entry.ref() is module else None

    def full_name(self, root: Root, name: str) -> str:
        name = plain_name(name)
        return f"{root.label}.{name}" if root.named else name

    def tell_apart(self) -> None:
        """Put the name of the first model before those of its parameters, where another model has one of them too."""
        held = [(account, account.root) for account in self.accounts if account.root is not None]
        mine = [(account, root) for account, root in held if not root.named]
        others = {account.name.removeprefix(f"{root.label}.") for account, root in held if root.named}
        if any(account.name in others for account, _ in mine):
            for account, root in mine:
                account.name = f"{root.label}.{account.name}"
            for _, root in mine:
                root.named = True

    def meet(self, module: nn.Module) -> ModuleAccount:
        """Open the account of a module seen for the first time: part of a known model, or a model of its own."""
        for root in self.roots:
            top = root.ref()
            if top is None:
                continue
            for name, part in top.named_modules():
                if part is module:
                    return self._enter(module, root, name)
        return self.add_root(module)

    def add_root(self, module: nn.Module, given: bool = False) -> ModuleAccount:
        """Take a module as a model of its own, with all that it holds. One that was `given` is a whole."""
        module = uncompiled(module)
        parts = dict(module.named_modules())
        inner = {id(part) for name, part in parts.items() if name}
        # A part that was called by itself before its whole was seen is a part now.
        self.roots = [root for root in self.roots if root.ref() is not None and id(root.ref()) not in inner]
        label = type(module).__name__
        if any(True for _ in module.parameters()):
            root = Root(module, self._root_count, self._new_label(label))
            self._root_count += 1
            self.roots.append(root)
        else:
            root = Root(module, -1, label)  # a loss or an activation: nothing to train in it
        root.handed_over = given
        if self._is_shallow_copy(module, parts):
            self.shallow.append(root.label)
        for name, part in parts.items():
            self._enter(part, root, name)
        self._find_again(root, {id(part): name for name, part in parts.items()})
        entry = self.module(module)
        assert entry is not None
        entry.outer = True
        return entry

    def _is_shallow_copy(self, module: nn.Module, parts: Mapping[str, nn.Module]) -> bool:
        """Whether a model is one that nobody has made, of parts that another one of its class has by the same names."""
        known = [(name, self.module(part)) for name, part in parts.items() if name]
        made = self.made.get(id(module))
        mine = type(module).__name__
        return (
            (made is None or made.ref() is not module)
            and bool(known)
            and all(
                entry is not None
                and id(entry.ref()) in self.made
                and entry.root is not None
                and entry.name == plain_name(name)
                and entry.root.label.rstrip("0123456789") == mine.rstrip("0123456789")
                for name, entry in known
            )
        )

    def _find_again(self, root: Root, paths: dict[int, str]) -> None:
        """What an optimizer took from a model before it ran, and is not in it any more, was this one's. What a tensor
        stands in for during a call is in it again afterwards."""
        for account in self.accounts:
            whole = account.early.ref() if account.early is not None and account.module is None else None
            if account.early is not None and id(whole) in paths and not _is_stood_in_for(whole, account.early.path):
                path = paths[id(whole)]
                account.root = root
                account.name = self.full_name(root, f"{path}.{account.early.path}" if path else account.early.path)

    def _new_label(self, kind: str) -> str:
        """A name for a model. It is not given again, even where its first bearer is gone."""
        gone = {label for label, early in self._early.items() if early() is None}
        number = next(n for n in count(self._labels[kind] + 1) if _numbered(kind, n) not in gone)
        self._labels[kind] = number
        return _numbered(kind, number)

    def _enter(self, module: nn.Module, root: Root, name: str) -> ModuleAccount:
        entry = self.module(module)
        if entry is None:
            entry = ModuleAccount(module)
            self.modules[id(module)] = entry
            if entry.norm:
                self.norms.append(entry)
        entry.root, entry.name, entry.made_at, entry.quiet = root, plain_name(name), None, False
        made = self.made.get(id(module))
        if made is not None and made.ref() is module:
            entry.made_at, entry.made_by, entry.made, entry.made_after = made[1:]
        for own, parameter in module._parameters.items():
            if parameter is None:
                continue
            known = self.find(parameter)
            path = self.full_name(root, f"{name}.{own}" if name else own)
            account = known or self.open(parameter, path)
            if known is not None and (known.root is None or known.root is not root):
                known.name = path
            if account.root is not root or account.position < 0:
                root.parameters += 1
                account.position = root.parameters
            account.root, account.module, account.attached = root, entry, True
        return entry

    def put(self, module: nn.Module, parameter: Tensor, made: Made) -> None:
        """A parameter has come into a module that had run without it."""
        entry = self.module(module)
        if entry is not None and entry.root is not None and self.find(parameter) is None:
            self._enter(module, entry.root, entry.name)
            account = self.find(parameter)
            if account is not None:
                account.put = made

    def look_around(self) -> None:
        """Note which parameters living models still hold, which require gradients, and what else is gone or changed."""
        for optimizer in self.optimizers:
            optimizer.lasted = optimizer.alive
        for entry in self.modules.values():
            part = entry.ref()
            if part is not None:
                entry.in_training = part.training
                told = vars(part).get("requires_grad")  # an attribute like any other: it freezes and thaws nothing
                if isinstance(told, bool):
                    trained = [a.name for p in part.parameters() if can_train(p) and (a := self.find(p)) is not None]
                    owned = [a.name for p in part.parameters() if (a := self.find(p)) is not None and a.owned]
                    entry.unfrozen = () if told else tuple(trained)
                    entry.not_thawed = tuple(owned) if told and not trained else ()
        held = {id(p) for _, module in self.living() for p in module.parameters()}
        alive = bool(held)
        for account in self.accounts:
            parameter = account.ref()
            if parameter is not None:
                account.owned = any(owner.alive for owner in account.owners)
                if account.status == FRESH and account.module is not None and account.module.in_training:
                    account.trained = True
                own = vars(parameter)
                account.misspelt = next((word for word in MISSPELT if own.get(word) is False), "")
                before, account.trains = account.trains, can_train(parameter)
                if before and not account.trains:
                    account.frozen_after, account.thawed_at = account.steps, None
                elif account.trains and not before:
                    account.thawed_at, account.thawed_after = account.total, account.steps
                    account.came_back = account.came_back or bool(account.frozen_after)
                if alive:
                    account.attached = id(parameter) in held
                if account.frozen_zero is not False and account.module is not None and account.module.made:
                    account.frozen_zero = is_frozen_zero(account, parameter)

    def find_wholes(self, even_if_whole: bool = False) -> None:
        """Look for models whose parts alone were called, or whose parameters alone were used, to name them well."""
        known = {id(root.ref()) for root in self.roots}
        loose = {id(p) for a in self.accounts if a.root is None and (p := a.ref()) is not None}
        met = sum(not root.handed_over for root in self.roots)
        if not self.accounts or not (loose or even_if_whole or (met and len(self.roots) > 1)):
            return
        modules = [m for m in living(nn.Module) if "_modules" in vars(m) and not is_product(m)]
        for root, module in self.living():  # the names a model had when it first ran may not have been its own
            if any(id(p) in loose for p in module.parameters()):
                for name, part in module.named_modules():
                    self._enter(part, root, name)
        parts = {id(part) for m in modules for part in vars(m)["_modules"].values() if part is not None}
        for module in modules:
            if id(module) in parts or id(uncompiled(module)) in known:
                continue
            inside = {id(part) for part in module.modules()}
            if inside & known or any(id(p) in loose for p in module.parameters()):
                self.add_root(module)

    def living(self) -> Iterator[tuple[Root, nn.Module]]:
        """Models that still exist."""
        for root in self.roots:
            module = root.ref()
            if module is not None:
                yield root, module
