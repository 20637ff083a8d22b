"""The world around an attack, and what must hold of it afterwards: nothing gained, read, written, left or lost."""

from __future__ import annotations

import contextlib
import csv
import hashlib
import io
import os
import re
import secrets
import shutil
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path

from attacks.bank import HONEST, Attack, World, notebook
from course_utils.grading.result import Result
from course_utils.grading.result_json import from_json, to_json

CAUGHT = re.compile(r"CANARY[0-9a-f]{16}|exact to rounding")
"""What only the host knows, and a bomb's word that it met no limit."""
LONGEST = 1_000_000
"""Most characters of a result: what somebody hands in must not fill a gradebook."""
MEMORY = 2**30
"""Most bytes that the grader's own process may take while it grades one attack."""
PATIENCE = 90.0
"""Seconds after which a run is taken for hung: far more than any limit that attacks are given."""


@contextmanager
def open_world(clone: Path) -> Iterator[tuple[World, Contacts]]:
    """A host with secrets in its files, its environment and its services."""
    around = Path(tempfile.mkdtemp(prefix="attacked-"))
    folder = around / "host"
    secret = "CANARY" + secrets.token_hex(8)
    files = {
        "submissions/bob/01_what_gradients_are.ipynb": notebook([HONEST, f"# {secret}"]).decode(),
        "gradebook/run.json": f'{{"seed": "{secret}"}}',
        "gradebook/results/lesson1/bob.json": f'{{"student": "bob", "name": "{secret}"}}',
        "home/.ssh/id_rsa": secret,
        "clone/solutions/01_what_gradients_are.ipynb": notebook([HONEST, f"# {secret}"]).decode(),
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        for each in (path, *path.parents):
            if each.is_relative_to(around):
                each.chmod(0o777 if each.is_dir() else 0o666)  # whoever gets here may read and write
    before = {name: os.environ.get(name) for name in ("ATTACKED", "HOME")}
    os.environ.update(ATTACKED=secret, HOME=str(folder / "home"))
    contacts = Contacts(secret, around / "service")
    try:
        yield (
            World(
                secret=secret,
                secrets=tuple(folder / name for name in files),
                folder=folder,
                clone=clone,
                port=contacts.port,
                unix=around / "service",
                abstract=contacts.abstract,
                marker="m" + secrets.token_hex(6),
            ),
            contacts,
        )
    finally:
        contacts.close()
        for name, value in before.items():
            os.environ.pop(name, None)
            os.environ.update({} if value is None else {name: value})
        shutil.rmtree(around, ignore_errors=True)


class Contacts:
    """Services of the host that hand out the secret, and write down that somebody called."""

    def __init__(self, secret: str, unix: Path) -> None:
        self.heard: list[str] = []
        self.abstract = f"attacked-{secrets.token_hex(6)}"
        self._secret = secret.encode()
        self._lines: list[socket.socket] = []
        tcp = self._open(socket.AF_INET, ("127.0.0.1", 0), "TCP")
        self.port: int = tcp.getsockname()[1]
        self._open(socket.AF_UNIX, str(unix), "a Unix socket")
        unix.chmod(0o777)
        self._open(socket.AF_UNIX, "\0" + self.abstract, "an abstract Unix socket")
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        udp.bind(("127.0.0.1", self.port))
        self._lines.append(udp)
        threading.Thread(target=self._answer, args=(udp,), daemon=True).start()

    def close(self) -> None:
        for line in self._lines:
            with contextlib.suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)
            line.close()

    def _open(self, family: socket.AddressFamily, where: tuple[str, int] | str, name: str) -> socket.socket:
        line = socket.socket(family)
        line.bind(where)
        line.listen()
        self._lines.append(line)
        threading.Thread(target=self._serve, args=(line, name), daemon=True).start()
        return line

    def _serve(self, line: socket.socket, name: str) -> None:
        with contextlib.suppress(OSError):
            while True:
                caller, _ = line.accept()
                self.heard.append(name)
                with contextlib.suppress(OSError), caller:
                    caller.sendall(self._secret)

    def _answer(self, line: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                _, caller = line.recvfrom(100)
                if caller is None:  # closed
                    return
                self.heard.append("UDP")
                line.sendto(self._secret, caller)


# ------------------------------------------------------------------ proofs of what is read by people


_HIDES = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
"""Characters that nobody sees, or that turn what is seen."""
_TURNS = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Those of them that may do harm in a table."""
_VOID = {"meta", "br", "hr", "link", "img", "input", "wbr"}
_LIVE = {"script", "iframe", "object", "embed", "base", "form", "input", "img", "link", "video", "audio", "frame"}


class _Page(HTMLParser):
    """Whatever in a page lives, or was left open or closed too early."""

    def __init__(self) -> None:
        super().__init__()
        self.faults: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag in _LIVE:
            self.faults.append(f"an element <{tag}>")
        for name, value in attributes:
            inner = re.sub(r"\s", "", (value or "").lower())
            if name.startswith("on") or name in ("src", "srcdoc") or "javascript:" in inner or "url(" in inner:
                self.faults.append(f"an attribute {name}={value!r:.80}")
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> closes something else")


def faults_of_page(html: str) -> list[str]:
    """What in a page runs, loads, hides or breaks out of its place."""
    page = _Page()
    page.feed(html)
    page.close()
    if page.open:
        page.faults.append(f"never closed: {page.open}")
    if hidden := _HIDES.findall(html):
        page.faults.append(f"characters that hide: {sorted({hex(ord(one)) for one in hidden})}")
    return page.faults


def faults_of_table(text: str) -> list[str]:
    """What in a CSV a spreadsheet would compute, or what breaks its rows."""
    faults = []
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    if len({len(row) for row in rows}) > 1:
        faults.append("its rows are not equally long")
    for field in (field for row in rows for field in row):
        number = re.fullmatch(r"-?\d+(\.\d+)?", field)
        if re.match(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]", field) and not number:
            faults.append(f"a formula: {field[:80]!r}")
        if hidden := _TURNS.search(field):
            faults.append(f"a character that hides, {hex(ord(hidden[0]))}: {field[:80]!r}")
    return faults


# ------------------------------------------------------------------ proofs


def faults_of(attack: Attack, result: Result, earns: float | None = None) -> list[str]:
    """What one result says of a harm that was done; empty where none was."""
    faults = []
    most = attack.earns + attack.gains if earns is None else earns
    if earns is None and result.points < attack.gains:
        faults.append(f"it gains {result.points} points in place of {attack.gains}: drop `gains`, and `limit`")
    if not result.points <= most:  # so that NaN is a fault, too
        faults.append(f"it has {result.points} points; its honest part is worth {most}")
    if not attack.keeps <= result.points:
        faults.append(f"its honest part lost points: {result.points} in place of {attack.keeps}")
    if any(not 0 <= marked.points <= marked.verdict.max_points for marked in result.exercises):
        faults.append("an exercise has more points than it is worth, or less than none")
    text = to_json(result)
    text.encode("utf-8")
    if from_json(text)[0] != result and not _holds_surrogates(result):
        faults.append("its result reads otherwise than it was written")
    if found := CAUGHT.findall(text):
        faults.append(f"what nobody may know stands in its result: {sorted(set(found))}")
    if len(text) > LONGEST:
        faults.append(f"its result has {len(text):,} characters")
    return faults


def _holds_surrogates(result: Result) -> bool:
    return re.search(r"\\ud[89a-f]", repr(result)) is not None


def contents(folder: Path) -> dict[str, str]:
    """What lies in a folder, by name: the digest of a file, where a link leads."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            found[str(path)] = os.readlink(path)
        elif path.is_file():
            found[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest()
        else:
            found[str(path)] = "folder"
    return found


def descendants(root: int) -> dict[int, str]:
    """Every process below `root`, by its number, with the name that it has."""
    children: dict[int, list[int]] = {}
    names: dict[int, str] = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError, ValueError):
            text = Path(f"/proc/{entry}/stat").read_text(errors="replace")
            name, _, rest = text.partition("(")[2].rpartition(")")
            if rest.split()[0] != "Z":
                names[int(entry)] = name
                children.setdefault(int(rest.split()[1]), []).append(int(entry))
    found, waiting = {}, [root]
    while waiting:
        for child in children.get(waiting.pop(), []):
            found[child] = names[child]
            waiting.append(child)
    return found


def named(marker: str) -> list[int]:
    """Every process of this machine that calls itself `marker`, by name or in its command line."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            comm = Path(f"/proc/{entry}/comm").read_text(errors="replace")
            line = Path(f"/proc/{entry}/cmdline").read_bytes().split(b"\0")[0]
            if comm.strip() == marker or line == marker.encode():
                found.append(int(entry))
    return found


def within(seconds: float, holds: Callable[[], bool]) -> bool:
    """Whether something comes to hold in so many seconds: what was killed takes a moment to be gone."""
    until = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


@contextmanager
def watched_run() -> Iterator[list[str]]:
    """Gives a list of what went wrong with the grader itself while the block ran: it hung, or took memory."""
    faults: list[str] = []

    def give_up() -> None:
        faults.append(f"it did not come back in {PATIENCE:.0f} seconds")
        for process in descendants(os.getpid()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    watchdog = threading.Timer(PATIENCE, give_up)
    watchdog.daemon = True
    before = _resident("VmRSS")
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    watchdog.start()
    try:
        yield faults
    finally:
        watchdog.cancel()
        if _resident("VmHWM") - before > MEMORY:
            faults.append(f"the grader took {(_resident('VmHWM') - before) / 2**20:,.0f} MB")


def _resident(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    return 0
