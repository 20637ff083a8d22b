"""What the texts of a program tell of its whole run: fields of the log, each with who reads it.

Texts come in more forms than anybody thinks of. A reader that fails costs its own field, and not the report.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from gradient_ledger import (
    behind,
    buffers,
    cancelled,
    clocks,
    closelook,
    counters,
    divisions,
    frozen,
    misplaced,
    outside,
    places,
    printing,
    repeated,
    restored,
    samples,
    scalers,
    source,
    targets,
    timetables,
    uncalled,
    unweighted,
)
from gradient_ledger.events import Place

if TYPE_CHECKING:
    from gradient_ledger.state import State

Files = tuple[str, ...]

_PUTS_ZEROS = r"\.grad\s*=\s*(torch\.)?(zeros|new_zeros)(_like)?\("
"""Text that gives a parameter a gradient of zeros."""

READERS: dict[str, Callable[[Files], Any]] = {
    "left_behind": behind.left_behind,
    "never_asked": targets.never_asked,
    "other_followed": targets.other_followed,
    "copied_back": targets.copied_back,
    "under_two_names": targets.under_two_names,
    "led_by_another": targets.led_by_another,
    "detached_whole": cancelled.detached_whole,
    "cast_low_at": lambda files: source.only_line(files, source.CASTS_A_MODEL) or source.ends_in_a_cast(files),
    "averages_cast_at": lambda files: tuple(source.lines(files, source.CASTS_AN_AVERAGE)),
    "unwritten": misplaced.unwritten,
    "rate_by_passes": timetables.rate_by_passes,
    "shown_with": printing.found,
    "last_alone": outside.found,
    "counter_anew": counters.begun_anew,
    "unread_weight": unweighted.found,
    "repeated_modules": repeated.found,
    "reads_scale": scalers.reads_scale,
    "copied_at": lambda files: source.only_line(files, r"(?<![\w.])copy(\.copy)?\((?!\))"),
    "scaler_made_at": lambda files: source.only_line(files, r"\bGradScaler\("),
    "rate_set_at": lambda files: source.only_line(files, uncalled.RATES),
    "rate_called_at": lambda files: source.only_call(files, source.only_line(files, uncalled.RATES)),
    "clears_in_vain": uncalled.clears_in_vain,
    "returned_at_once": outside.returned_at_once,
    "in_vain": lambda files: tuple(Place(file, line) for file in files for line in buffers.weights_in_vain(file)),
}
"""Fields that all texts of a program tell: those that events came from, and its own modules."""

WHERE_IT_TRAINS: dict[str, Callable[[Files], Any]] = {
    "first_rate_at": lambda files: source.only_line(files, r"param_groups\[0\]\[.lr.\]\s*[-+*/]?=(?!=)"),
    "set_twice": misplaced.set_twice,
    "remainder_of_one": misplaced.remainder_of_one,
    "given_memory": misplaced.given_memory,
    "backup_in_memory": misplaced.backup_in_memory,
    "sum_apart": divisions.left_apart,
    "halved_alone": divisions.halved_alone,
    "unsaved_key": restored.asked_for_in_vain,
    "left_in_checkpoint": restored.left_behind,
    "given_for_epochs": counters.given_for_epochs,
    "drawn_beside": samples.drawn_beside,
    "unloaded": misplaced.unloaded,
    "in_defaults": misplaced.in_defaults,
    "in_numbers": misplaced.in_numbers,
    "unprojected": misplaced.unprojected,
    "in_attributes": misplaced.in_attributes,
    "named_only": uncalled.named,
    "clears_under": uncalled.clears_under,
    "guarding_clears": uncalled.guarding_clears,
    "puts_zeros_at": lambda files: next((at for at in source.lines(files, _PUTS_ZEROS) if source.is_in_step(at)), None),
    "frozen_at": lambda files: source.only_line(files, r"requires_grad(_\(|\s*=\s*)False"),
    "thawed_again": frozen.thawed_again,
    "norms_frozen_at": frozen.norms,
    "thawed_at": lambda files: source.only_line(files, r"requires_grad(_\((True)?\)|\s*=\s*True)"),
}
"""Fields that the texts tell that events came from: a module of helpers may hold more than one program uses."""


def facts(state: State) -> dict[str, Any]:
    """All these fields, and those for which it counts what the run has shown; without those whose readers failed."""
    files, trains = tuple(closelook.own_files(state)), tuple(state.journal.files())
    readers: dict[str, Callable[[], Any]] = {name: partial(_told_by, read, files) for name, read in READERS.items()}
    readers |= {name: partial(_told_by, read, trains) for name, read in WHERE_IT_TRAINS.items()}
    if (last := state.progress.last) is not None:
        readers["averaged_each_turn"] = partial(behind.follows_each_turn, files, last.deposit.trail)
    readers["unstepped_schedules"] = partial(clocks.unstepped, state, list(files))
    state.text_trouble = ""
    told: dict[str, Any] = {}
    for name, read in readers.items():
        with _at_its_own_cost(state):
            told[name] = read()
    with _at_its_own_cost(state):
        told |= uncalled.facts(state, files)
    with _at_its_own_cost(state):
        cut = _told_by(cancelled.residuals_cut, files)
        told["residuals_cut"] = tuple(place for place in cut if _is_forward_that_ran(state, place))
    return told


def _is_forward_that_ran(state: State, place: Place) -> bool:
    """Whether a line stands in the `forward` of a module that was called."""
    ran = {entry.forward for entry in state.books.modules.values() if entry.calls and entry.forward is not None}
    return any(
        places.absolute(code.co_filename) == places.absolute(place.file)
        and place.line in (line for _, _, line in code.co_lines())
        for code in ran
    )


@lru_cache(maxsize=1024)
def _told_by(read: Callable[[Files], Any], files: Files) -> Any:
    """What a reader tells of texts: a log may be asked for again and again, and these stay what they are."""
    return read(files)


@contextmanager
def _at_its_own_cost(state: State) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        state.text_trouble += "".join(traceback.format_exception(error))
