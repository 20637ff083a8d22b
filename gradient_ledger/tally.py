"""What a step is about to use, parameter by parameter, summed up in plain values."""

from __future__ import annotations

from typing import Any

from gradient_ledger.account import EMPTY, FRESH, SKIPPED, ZERO, Account, Deposit, grad_of
from gradient_ledger.books import OptimizerAccount
from gradient_ledger.events import Crossing, Trail
from gradient_ledger.journal import Draft
from gradient_ledger.tensors import HALVES, is_finite


def tally(draft: Draft, accounts: list[Account]) -> None:
    """Write down, for a step or a skipped one, what each gradient holds and from which passes."""
    none: list[Account] = []
    zeros: list[Account] = []
    stale: list[Account] = []
    frozen: list[Account] = []
    skipped: list[Account] = []
    mixed: dict[str, list[Account]] = {}
    rewound = assigned = False
    fields = draft.fields
    fresh: list[Account] = []
    passes: list[Deposit] = []
    crossed: list[Account] = []
    others: set[int] = set()
    low = ""
    for account in accounts:
        status = account.status
        if status == FRESH:
            fresh.append(account)
            deposits = account.deposits
            if account.mixed:
                mixed.setdefault(account.mixed, []).append(account)
            if account.assigned is not None:
                assigned = True
            if len(deposits) > len(passes):
                passes = deposits
            if len(deposits) > 1:
                if deposits[0].steps != deposits[-1].steps:
                    crossed.append(account)
                if not low and (parameter := account.ref()) is not None and (grad := grad_of(parameter)) is not None:
                    low = HALVES.get(grad.dtype, "")
        elif status == EMPTY:
            none.append(account)
        elif status == ZERO:
            zeros.append(account)
        elif status == SKIPPED:
            skipped.append(account)
        else:
            stale.append(account)
            parameter = account.ref()
            if parameter is not None and not parameter.requires_grad:
                frozen.append(account)
            if account.used_by is not None:
                others.add(account.used_by)
            rewound = rewound or (parameter is not None and parameter._version != account.written)
    fields["fresh"] = fields.get("fresh", 0) + len(fresh)
    # Most are empty, and an empty tuple is always the same one: what is kept, Python's collector goes through.
    fields["none"], fields["zeros"], fields["stale"] = none or (), zeros or (), stale or ()
    fields["frozen"], fields["skipped"] = frozen or (), skipped or ()
    fields["used_by"] = tuple(sorted(others))
    fields["mixed"] = mixed
    fields["rewound"], fields["assigned"] = rewound, assigned
    if len(passes) >= fields.get("passes", 0):
        numbers: list[int] = []
        trails: list[Trail] = []
        scaled: set[bool] = set()
        doubtful = False
        for deposit in passes:
            numbers.append(deposit.number)
            trails.append(deposit.trail)
            scaled.add(deposit.scaled)
            doubtful = doubtful or deposit.doubtful
        fields["passes"], fields["pass_numbers"], fields["trails"] = len(passes), tuple(numbers), tuple(trails)
        fields["scaled"] = tuple(sorted(scaled))
        if passes:
            fields["last_pass_at"] = passes[-1].place
        if doubtful:
            fields["finite"] = all(is_finite(g) for a in fresh if (g := a.grad) is not None)
    if crossed:
        fields["crossed"] = _crossing(crossed)
    if low:
        fields["low_precision"] = low
    number = fields.get("optimizer")
    if number is not None:
        for account in (*fresh, *stale, *skipped):
            if number not in account.stepped_by:
                account.stepped_by |= {number}
    for account in fresh:
        if account.joined is not draft:
            account.joined = draft
            draft.accounts.append(account)


def _crossing(accounts: list[Account]) -> Crossing:
    deposits = accounts[0].deposits
    names: Any = tuple(accounts)  # the journal puts their names in
    return Crossing(
        names=names,
        numbers=tuple(deposit.number for deposit in deposits),
        first=deposits[0].place,
        first_trail=deposits[0].trail,
        last_trail=deposits[-1].trail,
    )


def rate_of(entry: OptimizerAccount) -> float | None:
    """The learning rate of an optimizer's first group."""
    optimizer = entry.ref()
    rate = optimizer.param_groups[0].get("lr") if optimizer is not None and optimizer.param_groups else None
    return rate if isinstance(rate, (int, float)) else None


def first_rate_alone(entry: OptimizerAccount) -> bool:
    """Whether the learning rate of the first of several groups has left the one they all began with, and no other's."""
    optimizer = entry.ref()
    now = tuple(group.get("lr") for group in optimizer.param_groups) if optimizer is not None else ()
    entry.rates = entry.rates or now
    alike = len(now) > 1 and len(now) == len(entry.rates) and len({*map(str, entry.rates)}) == 1
    return alike and isinstance(now[0], (int, float)) and now[0] != entry.rates[0] and now[1:] == entry.rates[1:]


def is_at_rest(entry: OptimizerAccount) -> bool:
    """Whether a schedule has set the learning rate of all groups to 0, in an optimizer of torch: in others it may mean
    something else, and who makes one with a rate of 0 may mean that."""
    optimizer = entry.ref()
    if optimizer is None or not type(optimizer).__module__.startswith("torch.optim"):
        return False
    rates = [group.get("lr") for group in optimizer.param_groups]
    scheduled = any(group.get("initial_lr") for group in optimizer.param_groups)
    return scheduled and all(isinstance(rate, (int, float)) and rate == 0 for rate in rates)
