"""The frame of every page, and what makes it safe: nothing is loaded, nothing runs, and no character hides."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

_HIDDEN = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
"""Characters that no one sees and that change what is seen: controls, directions, tags, halves of pairs."""

# Cards bring their own style attributes; nothing else may be loaded, run or sent.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_STYLE = """
:root { color-scheme: light dark; --text: #1b1b1b; --back: #ffffff; --line: #767676; --bar: #1565c0; --link: #0b57a4 }
@media (prefers-color-scheme: dark) {
  :root { --text: #e8e8e8; --back: #16181b; --line: #8a8f98; --bar: #7ab8ff; --link: #8ec5ff }
}
body { font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--back); margin: 0 }
main { max-width: 60rem; margin: 0 auto; padding: 1rem }
h1 { font-size: 1.6rem; line-height: 1.25 } h2 { font-size: 1.3rem; margin-top: 2rem } h3 { font-size: 1.1rem }
h1, h2, h3, h4, p, li, summary, caption, figcaption { overflow-wrap: anywhere }
a { color: var(--link) } li { margin: .3rem 0 }
.wide { overflow-x: auto }
table { font-variant-numeric: tabular-nums }
tbody tr { border-top: 1px solid var(--line) }
figure { margin: 1rem 0 } svg { max-width: 100%; height: auto; display: block }
pre { font-size: .9rem }
.words { border: 1px solid var(--line); border-left: 6px solid var(--bar); border-radius: 4px; padding: 4px 14px;
  margin: 6px 0; max-width: 56em }
.words p { margin: 4px 0 }
summary { cursor: pointer }
@media print { details > * { display: block } }
"""


def opening(title: str) -> str:
    """The page as far as its first heading, which is `title`."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n<meta name="robots" content="noindex">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{escape(title)}</h1>\n"
    )


CLOSING = "</main>\n</body>\n</html>\n"


def to_bytes(html: str) -> bytes:
    """A page, or a part of one, for the disk. What hides in it is written out, as `[U+202E]`."""
    return _HIDDEN.sub(lambda met: f"[U+{ord(met[0]):04X}]", html.replace("\r\n", "\n")).encode("utf-8")


def isolated(text: str) -> str:
    """A name or the like, which may be written from right to left, escaped."""
    return f"<bdi>{escape(text)}</bdi>"


def link(target: str, text: str) -> str:
    return f'<a href="{escape(target, quote=True)}">{isolated(text)}</a>'


def listed(items: Sequence[str], tag: str = "ul") -> str:
    """A list of pieces of HTML."""
    return f"<{tag}>{''.join(f'<li>{item}</li>' for item in items)}</{tag}>\n" if items else ""


def wide(html: str, label: str) -> str:
    """What may be wider than a narrow page: it scrolls by itself, by keyboard too."""
    return f'<div class="wide" role="region" tabindex="0" aria-label="{escape(label, quote=True)}">{html}</div>\n'


def number(value: float) -> str:
    """Points as one writes them: 20, 12.5, 6.67."""
    return f"{round(value, 2):g}" if abs(value) < 1e6 else f"{value:.0f}"
