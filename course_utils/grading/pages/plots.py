"""Plots as SVG that stands in the page: in its colours, with every number as text too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

_WIDTH = 640


def histogram(counts: Sequence[tuple[str, int]], title: str) -> str:
    """Upright bars, one a (label, count), with their counts above them."""
    height, floor, most = 220, 180, max([count for _, count in counts] + [1])
    step = _WIDTH / len(counts)
    marks = []
    for place, (label, count) in enumerate(counts):
        tall = 140 * count / most
        middle = (place + 0.5) * step
        marks.append(
            f'<rect x="{place * step + 4:.1f}" y="{floor - tall:.1f}" width="{step - 8:.1f}" height="{tall:.1f}"'
            ' fill="var(--bar)"/>' + _text(middle, floor - tall - 6, str(count)) + _text(middle, floor + 18, label)
        )
    marks.append(f'<path d="M0 {floor}.5H{_WIDTH}" stroke="currentColor"/>')
    described = "; ".join(f"{label}: {count}" for label, count in counts)
    return _figure(height, marks, title, described)


def bars(shares: Mapping[str, tuple[float, str]], title: str) -> str:
    """Lying bars, one a {label: (share from 0 to 1, words)}; the words stand under the label."""
    marks = []
    for row, (label, (share, words)) in enumerate(shares.items()):
        top = row * 44
        marks.append(
            _text(0, top + 14, f"{label}: {words}", "start")
            + f'<rect x="0.5" y="{top + 20.5}" width="{_WIDTH - 1}" height="14" fill="none" stroke="var(--line)"/>'
            + f'<rect x="0.5" y="{top + 20.5}" width="{max(0.0, min(1.0, share)) * (_WIDTH - 1):.1f}" height="14"'
            ' fill="var(--bar)"/>'
        )
    described = "; ".join(f"{label}: {words}" for label, (_, words) in shares.items())
    return _figure(44 * len(shares), marks, title, described)


def _figure(height: int, marks: Sequence[str], title: str, described: str) -> str:
    label = escape(f"{title}. {described}.", quote=True)
    return (
        f'<figure><svg viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" role="img"'
        f' aria-label="{label}">{"".join(marks)}</svg><figcaption>{escape(title)}</figcaption></figure>\n'
    )


def _text(x: float, y: float, text: str, anchor: str = "middle") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="currentColor" font-size="15">{escape(text)}</text>'
    )
