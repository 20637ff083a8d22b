"""From events to findings. Every rule is a function of the log alone; this module runs them and settles disputes.

One cause gives one finding: one that is only the shadow of another is silenced. And numbers go before events: where a
reference shows that every step used the right gradient, nothing about the gradient's value is an error, however odd
the way there looked. Which finding is whose shadow, and which are about the value, stands in the catalogue.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace

from gradient_ledger.catalogue import misconception
from gradient_ledger.events import Finding, Log
from gradient_ledger.rules import (
    division,
    edits,
    following,
    graphs,
    loud,
    numbers,
    order,
    ownership,
    precision,
    rates,
    stale,
    standing,
    window,
)
from gradient_ledger.rules.view import View

__all__ = ["RULES", "findings"]

Rule = Callable[[View], Iterator[Finding]]

RULES: tuple[Rule, ...] = (
    stale.added,
    order.lost,
    order.unused,
    order.cleared_twice,
    order.part_never_arrives,
    order.without_parentheses,
    order.taken,
    order.inputs,
    order.grown,
    order.idle_closures,
    order.used_again,
    order.adversary_in_both,
    order.copied_shallowly,
    order.held_by_two,
    order.outlived,
    order.another_stepped,
    order.with_the_shown,
    order.last_alone,
    order.last_turn_alone,
    order.returned_at_once,
    window.sizes,
    window.saved_inside,
    window.turned_round,
    window.losses,
    window.hooks,
    window.late_hooks,
    rates.schedulers,
    rates.schedules,
    rates.used_up,
    rates.idle_schedules,
    rates.overruled,
    rates.rates_for_factors,
    rates.never_scheduled,
    rates.doubled,
    rates.set_twice,
    rates.unscheduled,
    rates.early_schedules,
    rates.stepped_twice,
    rates.first_groups,
    rates.at_rest,
    rates.made_anew,
    rates.after_the_last,
    rates.held_steps,
    rates.by_passes,
    rates.counted_anew,
    window.means,
    window.forwards,
    window.without_backward,
    following.averages,
    following.taken_twice,
    following.unfollowed,
    following.unasked,
    following.trained_averages,
    following.own_averages,
    following.newest_averages,
    following.kept_averages,
    following.first_averages,
    following.rounded_averages,
    following.drawn_back,
    following.other_followed,
    following.copied_back,
    following.led_by_another,
    division.stepped_every_time,
    division.never_reset,
    division.by_itself,
    division.twice,
    division.counted_again,
    division.rows_again,
    division.window_counted,
    division.divided_again,
    division.auxiliary,
    division.the_same_each_time,
    division.auxiliary_by_name,
    division.running_totals,
    division.short_windows,
    division.unequal_means,
    division.contrasts,
    division.sums_apart,
    division.over_classes,
    division.unread_weights,
    division.sums_beside_means,
    division.halved_alone,
    graphs.written_midway,
    graphs.critics,
    graphs.reached,
    graphs.ignored,
    graphs.unreversed,
    graphs.squashed,
    graphs.flat_ratios,
    graphs.idle_summands,
    graphs.bare_numbers,
    graphs.parts,
    graphs.fresh_leaves,
    graphs.values_apart,
    graphs.adapted,
    graphs.redrawn,
    graphs.all_pairs,
    graphs.bare_states,
    graphs.layers_without_graph,
    graphs.handed_states,
    graphs.unseen_writes,
    graphs.bare_norms,
    graphs.drawn,
    graphs.dead_products,
    graphs.frozen_zeros,
    graphs.adapted_bases,
    edits.clipping,
    edits.first_group,
    edits.in_part,
    edits.without_limit,
    edits.twice,
    edits.divided_late,
    edits.by_hand,
    precision.mixed_precision,
    precision.idle_scaler,
    precision.scales,
    precision.autocast,
    window.batch_norms,
    precision.low_sums,
    precision.nonfinite,
    window.moved,
    edits.idle_edits,
    edits.replaced,
    edits.lost,
    edits.gone,
    precision.rounded_away,
    precision.unfilled,
    precision.missing_steps,
    standing.not_restored,
    standing.eval_mode,
    standing.noisy_teachers,
    standing.taken_back,
    standing.withdrawn,
    standing.made_anew,
    standing.passed_by,
    standing.own_loads,
    standing.stand_ins,
    standing.two_names,
    standing.empty_statistics,
    standing.listed_twice,
    standing.one_memory,
    ownership.crossed,
    ownership.meant_for_another,
    ownership.adversaries,
    ownership.input_gradients,
    ownership.never,
    ownership.held_later,
    ownership.always_cleared,
    ownership.unstepped,
    ownership.loose,
    ownership.idle,
    ownership.moved_without,
    ownership.thawed_again,
    ownership.distributed,
    ownership.local_norms,
    ownership.unfrozen,
    ownership.never_frozen,
    ownership.repeated,
    ownership.left_frozen,
    ownership.left_behind,
    ownership.thawed_norms,
    ownership.misspelt,
    numbers.against_reference,
    loud.exceptions,
)


def findings(log: Log, trouble: Callable[[str], None] | None = None) -> list[Finding]:
    """The mistakes a log shows, one for each cause: errors first, then warnings, then notes.

    A rule that fails costs its own finding only, if `trouble` is there to be told its traceback.
    """
    view = View(log)
    found: list[Finding] = []
    for rule in RULES:
        try:
            found += rule(view)
        except Exception:
            if trouble is None:
                raise
            trouble(traceback.format_exc())
    if "step" in log.compiled:
        found = [one for one in found if misconception(one.misconception).without_steps]
    found = _settled_by_numbers(view, found)
    present = {one.misconception for one in found if one.severity != "info"}
    shadows = {shadow for cause in present for shadow in misconception(cause).shadows}
    found = [one for one in found if one.misconception not in shadows]
    order_of = {"error": 0, "warning": 1, "info": 2}
    unique: dict[tuple[str, object], Finding] = {}
    for one in found:
        unique.setdefault((one.misconception, one.where), one)
    helpers = {(one.where.file, one.where.line): one.called_at for one in log.helpers}
    for key, one in unique.items():
        if one.where is not None and (one.where.file, one.where.line) in helpers:
            unique[key] = replace(one, called_at=helpers[one.where.file, one.where.line])
    return sorted(unique.values(), key=lambda one: order_of[one.severity])


def _settled_by_numbers(view: View, found: list[Finding]) -> list[Finding]:
    checks = [w.step.reference for w in view.all_windows if w.step.reference is not None]
    if not checks:
        return found
    entries = [(one, misconception(one.misconception)) for one in found]
    if all(check.right for check in checks):
        return [one for one, entry in entries if not entry.about_value or one.severity == "info"]
    # Where events name the cause, the numbers are its evidence, not a second finding.
    if any(one.severity == "error" and entry.about_value and not entry.by_numbers for one, entry in entries):
        return [one for one, entry in entries if not entry.by_numbers]
    return [one for one, entry in entries if one.severity != "info" or not entry.by_numbers]
