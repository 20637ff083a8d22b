"""What a ledger says: findings with their lines and remedies, a short timeline, a table of events, HTML, JSON."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from gradient_ledger.catalogue import misconception
from gradient_ledger.events import (
    Accumulate,
    Backward,
    Clear,
    Clip,
    Edit,
    Ending,
    Event,
    Finding,
    InputGradient,
    Log,
    ScalerUpdate,
    SchedulerStep,
    Step,
)
from gradient_ledger.rules.view import View, times

FORMAT = 2
"""Version of the JSON."""

LEGEND = "! stands before an event at the line of a finding"


def as_plain(log: Log, found: Sequence[Finding], *, events: bool = True, trouble: str = "") -> dict[str, Any]:
    """Everything as JSON values."""
    plain: dict[str, Any] = {
        "format": FORMAT,
        "findings": [finding.plain() | {"title": misconception(finding.misconception).title} for finding in found],
        "optimizers": [
            {"label": o.label, "steps": o.steps, "made_at": o.made_at.plain() if o.made_at else None}
            for o in log.optimizers
        ],
        "parameters": [
            {"name": p.name, "optimizers": list(p.owners), "backward_passes": p.deposits} for p in log.parameters
        ],
        "steps": _steps(log),
        "dropped_events": log.dropped,
        "error": log.error,
        "trouble": trouble,
        "unknown_reference": list(log.unknown_reference),
        "compiled": list(log.compiled),
    }
    if events:
        plain["events"] = [event.plain() for event in log.events]
    return plain


def _steps(log: Log) -> int:
    return sum(optimizer.steps for optimizer in log.optimizers) + log.steps_by_hand


def headline(log: Log, found: Sequence[Finding]) -> str:
    """`2 errors and 1 note in 24 steps of AdamW`."""
    counts = Counter(finding.severity for finding in found)
    parts = [times(counts["error"], "error")] if counts["error"] else []
    parts += [times(counts["warning"], "warning")] if counts["warning"] else []
    parts += [times(counts["info"], "note")] if counts["info"] else []
    said = " and ".join(parts) or ("nothing wrong" if _steps(log) and not log.error else "")
    labels = [o.label for o in log.optimizers if o.steps]
    whose = (
        f" of {', '.join(labels[:3])}" + (f" and {len(labels) - 3} more" if len(labels) > 3 else "") if labels else ""
    )
    steps = _steps(log)
    said = " and ".join(word for word in (said, "the run ended with an exception" if log.error else "") if word)
    if not steps:
        return f"{said}; no optimizer step was seen" if said else "no optimizer step was seen"
    return f"{said} in {times(steps, 'step')}{whose}"


def as_text(log: Log, found: Sequence[Finding], *, trouble: str = "") -> str:
    """The summary a terminal shows."""
    parts = [f"Gradient ledger: {headline(log, found)}."]
    for number, finding in enumerate(found, 1):
        parts += ["", *_finding_lines(finding, number)]
    short = timeline(log, found=found)
    if short:
        parts += ["", short]
    if log.dropped:
        parts += ["", _shortened(log)]
    several = [o for o in log.optimizers if o.steps]
    if len(several) > 1:
        parts += [
            f"{o.label}{f' was made at {o.made_at}' if o.made_at else ''}: {times(o.steps, 'step')}"
            for o in several[:6]
        ]
    if log.unknown_reference:
        parts += ["", _unknown(log)]
    if _hidden(log):
        parts += ["", _hidden(log)]
    if trouble:
        parts += ["", "The ledger itself failed and saw only part of the run. Please report this:", trouble.rstrip()]
    return "\n".join(parts)


def _shortened(log: Log) -> str:
    return (
        f"{times(log.dropped, 'window')} of this long run were like those before them and are not written down: the "
        "findings count, and the timeline shows, the others alone."
    )


def _unknown(log: Log) -> str:
    known = ", ".join(p.name for p in log.parameters[:4])
    return (
        f"Nothing was compared with the reference: it names {', '.join(log.unknown_reference)}, and the parameters "
        f"that were stepped are called {known or 'nothing: none was'}."
    )


def _hidden(log: Log) -> str:
    """What compiled code kept from sight, where that leaves a question open."""
    if "step" in log.compiled:
        return (
            "Optimizer steps ran inside code compiled by torch.compile, where the ledger does not look: nothing that "
            "depends on them is judged."
        )
    if log.compiled and not _steps(log):
        return "Code compiled by torch.compile is at work: a step inside it is not seen."
    return ""


def _finding_lines(finding: Finding, number: int) -> list[str]:
    entry = misconception(finding.misconception)
    word = {"error": "error", "warning": "warning", "info": "note"}[finding.severity]
    place = f"  {finding.where}" if finding.where else ""
    lines = [f"{number}. {word}: {entry.title} [{finding.misconception}]{place}"]
    if finding.where and finding.where.code:
        lines.append(f"       {finding.where.code}")
    if finding.called_at:
        lines.append(f"       called at {finding.called_at}  {finding.called_at.code}".rstrip())
    lines += [f"       {words} {place}  {place.code}".rstrip() for words, place in finding.beside]
    for head, text in (("seen", finding.text), ("mend", finding.remedy), ("why", entry.why or entry.happens)):
        lines += textwrap.wrap(
            text, 100, initial_indent=f"   {head:5}", subsequent_indent=" " * 8, break_on_hyphens=False
        )
    return lines


def as_html(log: Log, found: Sequence[Finding], *, trouble: str = "") -> str:
    """The summary a notebook shows."""
    from gradient_ledger import html

    cards = []
    for finding in found:
        entry = misconception(finding.misconception)
        tone = {"error": "bad", "warning": "calm", "info": "quiet"}[finding.severity]
        word = {"error": "Error", "warning": "Warning", "info": "Note"}[finding.severity]
        parts = [html.paragraph(str(finding.where), "Where:")] if finding.where else []
        if finding.where and finding.where.code:
            parts.append(html.lines([finding.where.code], "the line"))
        if finding.called_at:
            parts.append(html.paragraph(str(finding.called_at), "Called at:"))
        parts += [html.paragraph(str(place), f"{words.capitalize()}:") for words, place in finding.beside]
        parts += [html.paragraph(finding.text, "Seen:"), html.paragraph(finding.remedy, "Mend:")]
        parts.append(html.paragraph(entry.why or entry.happens, "Why:"))
        cards.append(html.box(f"{word}: {entry.title} (`{finding.misconception}`)", parts, tone))
    grave = any(f.severity == "error" for f in found)
    rows = timeline(log, found=found).splitlines()
    tail = [html.lines(rows, "timeline")] if rows else []
    if log.dropped:
        tail.append(html.paragraph(_shortened(log), "A long run:"))
    if log.unknown_reference:
        tail.append(html.paragraph(_unknown(log), "Reference:"))
    if _hidden(log):
        tail.append(html.paragraph(_hidden(log), "Compiled:"))
    if trouble:
        tail.append(html.paragraph("The ledger itself failed and saw only part of the run.", "Trouble:"))
    return html.box(f"Gradient ledger: {headline(log, found)}", [*cards, *tail], "bad" if grave else "good")


# ------------------------------------------------------------------ timeline

_WORDS = {
    "skipped step": "skipped-step",
    "scaler update": "update",
    "input gradient": "read-input-gradient",
    "pass over data": "new-pass",
    "scheduler": "schedule",
}


def timeline(log: Log, windows: int = 4, found: Iterable[Finding] = ()) -> str:
    """Each window as a row of words, repeats folded, alike rows counted; `!` before what a finding points at."""
    marked = {(f.where.file, f.where.line) for f in found if f.where is not None and f.severity != "info"}
    view = View(log)
    events = [e for e in view.events if not isinstance(e, (Accumulate, InputGradient))]
    if not events:
        return ""
    rows: list[list[str]] = [[]]
    for event in events:
        word = _WORDS.get(event.kind, event.kind)
        if isinstance(event, Step) and len(view.windows) > 1:
            whose = event.optimizer
            word = f"step({'by hand' if whose is None else view.name(whose)})"
        sign = "!" if event.where and (event.where.file, event.where.line) in marked else ""
        rows[-1].append(sign + word)
        if isinstance(event, Ending):
            rows.append([])
    if not rows[-1]:
        rows.pop()
    lines: list[tuple[int, int, str]] = []
    for number, row in enumerate(rows, 1):
        text = " ".join(_folded(row))
        if lines and lines[-1][2] == text:
            lines[-1] = (lines[-1][0], number, text)
        else:
            lines.append((number, number, text))
    shown = lines[: windows + 2]
    width = max(len(_span(a, b)) for a, b, _ in shown)
    out = [f"{_span(a, b):>{width}}  {text}" for a, b, text in shown]
    if len(lines) > len(shown):
        out.append(f"{'…':>{width}}  {len(rows) - shown[-1][1]} more windows, in {len(lines) - len(shown)} rows")
    head = f"timeline, a window a row ({LEGEND})" if any("!" in line for line in out) else "timeline, a window a row"
    return "\n".join(
        [head, *(textwrap.shorten(line, 400, placeholder=" …") if len(line) > 400 else line for line in out)]
    )


def _span(first: int, last: int) -> str:
    return f"{first}" if first == last else f"{first}–{last}"


def _folded(words: list[str]) -> list[str]:
    """`a b a b a b c` becomes `(a b)×3 c`."""
    out: list[str] = []
    at = 0
    while at < len(words):
        best, size = 1, 1
        for length in range(1, 7):
            unit = words[at : at + length]
            count = 1
            while words[at + count * length : at + (count + 1) * length] == unit:
                count += 1
            if len(unit) == length and count > 1 and count * length > best * size:
                best, size = count, length
        unit = words[at : at + size]
        if best > 1:
            out.append(f"({' '.join(unit)})×{best}" if size > 1 else f"{unit[0]}×{best}")
        else:
            out.append(unit[0])
        at += best * size
    return out


def table(log: Log, windows: int = 6) -> str:
    """The events of the first windows, one a line: number, kind, how many parameters, where, and what matters."""
    rows = [("no", "window", "event", "parameters", "where", "details")]
    seen = 0
    for event in View(log).events:
        rows.append(
            (
                str(event.number),
                str(event.window),
                event.kind,
                str(len(event.names) or ""),
                _short(event),
                _detail(event),
            )
        )
        seen += isinstance(event, Ending)
        if seen >= windows:
            break
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    lines = ["  ".join([*(f"{row[c]:<{widths[c]}}" for c in range(5)), row[5]]).rstrip() for row in rows]
    rest = len(log.events) - (len(rows) - 1)
    return "\n".join([*lines, f"… {rest} more events"] if rest > 0 else lines)


def _short(event: Event) -> str:
    return event.where.short if event.where else ""


def _detail(event: Event) -> str:
    """The few values of an event that a reader wants first."""
    if isinstance(event, Backward):
        said = [event.root, event.reduction or "", "scaled" if event.scaled else ""]
        return " ".join(word for word in said if word)
    if isinstance(event, Accumulate):
        onto = {"fresh": event.onto_fresh, "used": event.onto_used, "skipped": event.onto_skipped}
        return ", ".join(f"onto {word} ones" for word, some in onto.items() if some) or "the first"
    if isinstance(event, Clear):
        return f"to {event.how}" + (f", threw away {times(event.lost, 'backward pass')}" if event.lost else "")
    if isinstance(event, Ending):
        held = {"none": event.none, "zeros": event.zeros, "stale": event.stale}
        said = [times(event.passes, "backward pass")]
        said += [f"norm {event.norm:.3g}"] if event.norm is not None else []
        said += [f"{len(names)} {word}" for word, names in held.items() if names]
        return ", ".join(said)
    if isinstance(event, Clip):
        return f"{event.function} to {event.limit}"
    if isinstance(event, SchedulerStep):
        return f"{event.scheduler}, lr {event.rate}"
    if isinstance(event, ScalerUpdate):
        return f"scale {event.before} to {event.after}"
    return event.how if isinstance(event, Edit) else ""


def main_optimizer(view: View) -> int | None:
    """The optimizer with the most windows: the one a picture follows."""
    return max(view.windows, key=lambda number: len(view.windows[number]), default=None)
