"""Read files and zip archives that strangers handed in: never a link or a device, never too much, nothing unpacked.

Limits are checked before anything is held in memory. Whatever is wrong is said as `Unreadable`, in words for the
student.
"""

from __future__ import annotations

import calendar
import io
import os
import stat
import threading
import zipfile
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

MAX_NOTEBOOK = 20 * 2**20
"""Bytes of one notebook."""
MAX_NESTED = 50 * 2**20
"""Bytes of a zip that lies in a zip."""
MAX_MEMBERS = 250_000
"""Members of one zip: a download of all that a large course handed in."""
MAX_DIRECTORY = 64 * 2**20
"""Bytes of a zip's own list of members, which is read as a whole."""
MAX_RATIO = 250
"""How many times its packed size a member may unpack to, where it is large."""
SMALL = 5 * 2**20
"""Bytes up to which the ratio does not matter: a page of equal lines packs very well."""
_OPEN = 4
"""Archives kept open: reading the list of members again for each of them would be quadratic."""
_PACKING = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
"""What every zip program writes. The others may ask for gigabytes to unpack a few bytes."""


LOCKED, UNUSUAL = "locked with a password", "packed in an unusual way"
"""What may be wrong with a member that is a file like any other."""


class Unreadable(ValueError):
    """The file cannot be read as a notebook: what is wrong and what the student can do, in one sentence or two."""


@dataclass(frozen=True)
class Member:
    """One file in a zip. `name` opens it; `parts` are the folders and the file name, decoded for people."""

    name: str
    parts: tuple[str, ...]
    when: float
    """Seconds since the epoch, as if the archive's clock had been in UTC; 0 where it says nothing."""
    fault: str = ""
    """Why it is left alone: "a symbolic link"."""


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a regular file for reading. A link is not followed, a FIFO not waited for. Raises `Unreadable`."""
    flags = os.O_RDONLY
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_NOCTTY", "O_BINARY"):
        flags |= getattr(os, name, 0)
    try:
        handle = os.open(path, flags)
    except (OSError, ValueError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or "its name is not valid"
        raise Unreadable(f"The file could not be opened ({why}). Hand in the notebook itself, as a file.") from None
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise Unreadable("This is not a file with content. Hand in the notebook itself, as a file.")
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def read_regular(path: str | os.PathLike[str], limit: int = MAX_NOTEBOOK) -> bytes:
    """The bytes of a regular file of at most `limit` bytes. Raises `Unreadable`."""
    with open_regular(path) as file:
        if os.fstat(file.fileno()).st_size > limit:
            raise _too_large(limit)
        try:
            data = file.read(limit + 1)
        except OSError as error:
            raise Unreadable(f"The file could not be read ({error.strerror}). Hand it in again.") from None
    if len(data) > limit:
        raise _too_large(limit)
    return data


class Archive:
    """A zip, read where it lies. Raises `Unreadable` when it is none, or is made to exhaust its reader."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        with _explained():
            _bound_members(file)
            self._zip = zipfile.ZipFile(file)
            _refuse_overlaps(self._zip.infolist())

    def __del__(self) -> None:
        self._file.close()

    def members(self) -> Iterator[Member]:
        """Its files in their order, each name once: of two with one name the last counts."""
        for info in self._zip.NameToInfo.values():
            if not info.filename.endswith("/"):  # `is_dir` fails for an empty name
                parts = _parts(info)
                fault = "a name that leads out of its archive" if not parts else _fault(info)
                yield Member(info.filename, parts or (info.filename,), _when(info), fault)

    def read(self, name: str, limit: int = MAX_NOTEBOOK) -> bytes:
        """The bytes of a member, of at most `limit` bytes whatever the archive claims. Raises `Unreadable`."""
        with _explained():
            info = self._zip.getinfo(name)
            if fault := _fault(info):
                raise Unreadable(
                    f"In its zip the file is {fault}. Pack it again, as a plain zip, and hand it in again."
                )
            if info.file_size > limit:
                raise _too_large(limit)
            if info.file_size > SMALL and info.file_size > MAX_RATIO * info.compress_size:
                raise Unreadable(
                    f"The file unpacks to more than {MAX_RATIO} times its size. "
                    "Clear the outputs of the notebook, save it and hand it in again."
                )
            with self._zip.open(info) as file:
                data = file.read(limit + 1)
        if len(data) > limit:
            raise _too_large(limit)
        return data


_known: OrderedDict[tuple[object, ...], Archive] = OrderedDict()
_lock = threading.Lock()


def archive(path: str, nested: str | None = None) -> Archive:
    """The zip at `path`, or the zip `nested` in it; the last few stay open. Raises `Unreadable`."""
    with open_regular(path) as file:
        at = os.fstat(file.fileno())
        # A forked process must not share the place in the file that the open archive reads at.
        key = (os.getpid(), path, nested, at.st_ino, at.st_size, at.st_mtime_ns)
        with _lock:
            if key in _known:
                _known.move_to_end(key)
                return _known[key]
        if nested is None:
            found = Archive(os.fdopen(os.dup(file.fileno()), "rb"))
        else:
            found = Archive(io.BytesIO(archive(path).read(nested, MAX_NESTED)))
    with _lock:
        _known[key] = found
        while len(_known) > _OPEN:
            _known.popitem(last=False)
    return found


class _explained:
    """Whatever a hostile archive makes the library raise, as `Unreadable`."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, Unreadable):
            raise Unreadable(
                "The zip archive cannot be read: it is damaged, incomplete, locked with a password, or no zip at all. "
                "Pack it again, as a plain zip, and hand it in again."
            ) from None


def _too_large(limit: int) -> Unreadable:
    return Unreadable(
        f"The file holds more than {max(1, limit // 2**20)} MB. "
        "Clear the outputs of the notebook, save it and hand it in again."
    )


def _bound_members(file: BinaryIO) -> None:
    """Refuse too many members before the library makes an object of each.

    The library's own search for the list is used: with another one an archive could show one list here, one there.
    """
    found = zipfile._EndRecData(file)  # type: ignore[attr-defined]
    if found is None:
        raise zipfile.BadZipFile
    size, end = int(found[5]), int(found[9])
    room = size + 76  # two records of a 64-bit zip may stand between the list and its end
    if size <= MAX_DIRECTORY:
        file.seek(max(0, end - room))
        if file.read(room).count(b"PK\x01\x02") <= MAX_MEMBERS:
            return
    raise Unreadable(f"The zip holds more than {MAX_MEMBERS:,} files. Hand in only the notebook.")


def _refuse_overlaps(infos: list[zipfile.ZipInfo]) -> None:
    """Refuse members that share bytes: an honest zip has none, and they multiply what one unpacks to."""
    end = -1
    for info in sorted(infos, key=lambda info: info.header_offset):
        if info.header_offset < end:
            raise Unreadable("The parts of the zip overlap. Pack it again, as a plain zip, and hand it in again.")
        end = info.header_offset + 30 + info.compress_size  # a member's own header has 30 bytes and its name


def _fault(info: zipfile.ZipInfo) -> str:
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind == stat.S_IFLNK:
        return "a symbolic link"
    if kind not in (0, stat.S_IFREG):
        return "a device or a pipe"
    if info.flag_bits & 1:
        return LOCKED
    return "" if info.compress_type in _PACKING else UNUSUAL


def _parts(info: zipfile.ZipInfo) -> tuple[str, ...]:
    """Folders and name of a member; empty when it leads out of the archive. Windows programs write backslashes."""
    name = info.filename
    if not info.flag_bits & 0x800:  # the name is not marked as UTF-8, but most programs write UTF-8
        try:
            name = name.encode("cp437").decode("utf-8")
        except UnicodeError:
            pass
    name = name.replace("\\", "/")
    if name.startswith("/") or name[1:2] == ":":
        return ()
    parts = tuple(part for part in name.split("/") if part not in ("", "."))
    return () if ".." in parts else parts


def _when(info: zipfile.ZipInfo) -> float:
    try:
        return float(calendar.timegm((*info.date_time, 0, 0, 0))) if info.date_time > (1980, 1, 1, 0, 0, 0) else 0.0
    except (ValueError, OverflowError):
        return 0.0
