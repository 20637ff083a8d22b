"""What a step is about to use, parameter by parameter, summed up in plain values."""

from __future__ import annotations

from gradient_ledger.accounts import EMPTY, FRESH, SKIPPED, ZERO, Account, Deposit, OptimizerAccount
from gradient_ledger.state import Draft
from gradient_ledger.tensors import low_precision


def tally(draft: Draft, accounts: list[Account]) -> None:
    """Write down, for a step or a skipped one, what each gradient holds and from which passes."""
    none: list[Account] = []
    zeros: list[Account] = []
    stale: list[Account] = []
    frozen: list[Account] = []
    skipped: list[Account] = []
    mixed: dict[str, list[Account]] = {}
    rewound = False
    fresh = draft.details.get("fresh", 0)
    passes: list[Deposit] = []
    crossed: Account | None = None
    others: set[int] = set()
    for account in accounts:
        status = account.status
        if status == FRESH:
            fresh += 1
            if account.mixed:
                mixed.setdefault(account.mixed, []).append(account)
            if len(account.deposits) > len(passes):
                passes = account.deposits
            if crossed is None and len(account.deposits) > 1:
                if account.deposits[0].steps != account.deposits[-1].steps:
                    crossed = account
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
    details = draft.details
    details["fresh"] = fresh
    for name, found in (
        ("none", none),
        ("zeros", zeros),
        ("stale", stale),
        ("frozen", frozen),
        ("skipped", skipped),
    ):
        details[name] = found
    details["used_by"] = sorted(others)
    details["mixed"] = mixed
    details["rewound"] = rewound
    if len(passes) >= details.get("passes", 0):
        details["passes"] = len(passes)
        details["pass_numbers"] = [deposit.number for deposit in passes]
        details["trails"] = [deposit.trail for deposit in passes]
        details["lines"] = len(set(details["trails"]))
        details["scaled"] = sorted({deposit.scaled for deposit in passes})
        if passes:
            details["last_pass_at"] = passes[-1].place
    details["assigned"] = any(a.assigned is not None and a.status == FRESH for a in accounts)
    if crossed is not None:
        details["crossed"] = {
            "name": crossed,
            "names": [a for a in accounts if len(a.deposits) > 1 and a.deposits[0].steps != a.deposits[-1].steps],
            "first": crossed.deposits[0].place,
            "first_trail": crossed.deposits[0].trail,
            "last_trail": crossed.deposits[-1].trail,
            "numbers": [d.number for d in crossed.deposits],
        }
    low = next((a for a in accounts if a.status == FRESH and len(a.deposits) > 1 and low_precision(a)), None)
    if low is not None:
        details["low_precision"] = low_precision(low)
    for account in accounts:
        if account.status == FRESH and account.joined is not draft:
            account.joined = draft
            draft.accounts.append(account)


def rate_of(entry: OptimizerAccount) -> float | None:
    """The learning rate of an optimizer's first group."""
    optimizer = entry.ref()
    rate = optimizer.param_groups[0].get("lr") if optimizer is not None and optimizer.param_groups else None
    return rate if isinstance(rate, (int, float)) else None
