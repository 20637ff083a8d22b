"""Attacks by archives and folders: names that lead elsewhere, links, bombs, things that are no files."""

from __future__ import annotations

import io
import os
import socket
import stat
import struct
import zipfile
from pathlib import Path

from attacks.bank import HONEST, WORTH, World, layout, notebook

BOOK = "01_what_gradients_are.ipynb"


def _zip(path: Path, *members: tuple[str | zipfile.ZipInfo, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return path


@layout("has members whose names lead out of the folder", earns=WORTH)
def traversal(folder: Path, world: World) -> None:
    names = ("../../../pwned.ipynb", "/pwned.ipynb", "..\\..\\pwned.ipynb", "C:\\pwned.ipynb", "a/../../pwned.ipynb", "~/pwned.ipynb",
             "//host/pwned.ipynb", "./././../pwned.ipynb", str(world.folder / "pwned.ipynb"))  # fmt: skip
    for number, name in enumerate(names):
        _zip(folder / f"mallory{number}.zip", (name, notebook([HONEST])))


@layout("has links in an archive, to the host's files and to itself")
def links_in_an_archive(folder: Path, world: World) -> None:
    for number, target in enumerate(
        [*map(str, world.secrets), "/etc/passwd", ".", f"mallory0.zip/{BOOK}", str(world.clone / "solutions")]
    ):
        link = zipfile.ZipInfo(BOOK if number else "x.ipynb")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        _zip(folder / f"mallory{number}.zip", (link, target.encode()))


@layout("has a device, a FIFO and a folder in an archive, named like notebooks")
def devices_in_an_archive(folder: Path, world: World) -> None:
    for number, kind in enumerate((stat.S_IFIFO, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFSOCK, stat.S_IFDIR)):
        member = zipfile.ZipInfo("x.ipynb")
        member.external_attr = (kind | 0o777) << 16
        _zip(folder / f"mallory{number}.zip", (member, b"\1\3"))


@layout("is a zip that unpacks to gigabytes")
def zip_bomb(folder: Path, world: World) -> None:
    with (
        zipfile.ZipFile(folder / "mallory.zip", "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open(BOOK, "w", force_zip64=True) as member,
    ):
        for _ in range(256):
            member.write(b"\0" * 2**20)
    # The directory lies about the size: 1,000 bytes.
    data = bytearray((folder / "mallory.zip").read_bytes())
    at = data.rfind(b"PK\x01\x02")
    struct.pack_into("<I", data, at + 24, 1000)
    (folder / "mallory2.zip").write_bytes(data)


@layout("is a zip in a zip in a zip, fifty deep, and wide", earns=WORTH)
def zips_in_zips(folder: Path, world: World) -> None:
    data = notebook([HONEST])
    name = BOOK
    for depth in range(50):
        held = io.BytesIO()
        with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
            for copy in range(3 if depth < 8 else 1):
                archive.writestr(f"{copy}{name}", data)
        data, name = held.getvalue(), "inner.zip"
    (folder / "mallory.zip").write_bytes(data)


@layout("is a zip whose hundred members all lie on the same bytes", earns=WORTH)
def overlapping_members(folder: Path, world: World) -> None:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("0.ipynb", notebook([HONEST]) + b" " * 30_000_000)
        (only,) = archive.infolist()
        for number in range(1, 100):
            twin = zipfile.ZipInfo(f"{number}.ipynb")
            for field in ("header_offset", "CRC", "compress_size", "file_size", "compress_type"):
                setattr(twin, field, getattr(only, field))
            archive.filelist.append(twin)
            archive._didModify = True
    (folder / "mallory.zip").write_bytes(held.getvalue())


@layout("is a zip of ten thousand members", earns=WORTH)
def many_members(folder: Path, world: World) -> None:
    _zip(folder / "mallory.zip", *((f"{number}.ipynb", b"{}") for number in range(10_000)))


@layout("is a zip that is cut, locked, or says things that are not so")
def damaged_archives(folder: Path, world: World) -> None:
    whole = _zip(folder / "whole.zip", (BOOK, notebook([HONEST]))).read_bytes()
    (folder / "whole.zip").unlink()
    (folder / "cut.zip").write_bytes(whole[:-30])
    (folder / "begun.zip").write_bytes(whole[:40])
    (folder / "empty.zip").write_bytes(b"")
    (folder / "none.zip").write_bytes(b"PK\5\6" + b"\0" * 18)
    locked = bytearray(whole)
    at = locked.rfind(b"PK\x01\x02")
    locked[6] |= 1
    locked[at + 8] |= 1
    (folder / "locked.zip").write_bytes(locked)
    spoiled = bytearray(whole)
    spoiled[60:80] = b"\xff" * 20
    (folder / "spoiled.zip").write_bytes(spoiled)
    strange = bytearray(whole)
    strange[8:10] = b"\x63\x00"
    at = strange.rfind(b"PK\x01\x02")
    strange[at + 10 : at + 12] = b"\x63\x00"  # a way of packing that there is not
    (folder / "strange.zip").write_bytes(strange)
    far = bytearray(whole)
    at = far.rfind(b"PK\x01\x02")
    struct.pack_into("<I", far, at + 42, 2**32 - 2)
    (folder / "far.zip").write_bytes(far)


@layout("has one name twice, and names that are no text", earns=WORTH)
def names_in_an_archive(folder: Path, world: World) -> None:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name in (
            BOOK,
            "b" * 30_000 + ".ipynb",
            "\u202ebypi.exe.ipynb",
            "a\nb.ipynb",
            "<script>.ipynb",
            ".ipynb",
            "  .ipynb",
            "x" * 254 + "/1.ipynb",
        ):
            archive.writestr(name, notebook([HONEST]))
    data = held.getvalue().replace(b"a\nb.ipynb", b"a\0b.ipynb").replace(b"<script>", b"\xff\xfe\x80cript")
    (folder / "mallory.zip").write_bytes(data)


@layout("is a link to the solution, to a sibling's work or to a file of the host")
def links(folder: Path, world: World) -> None:
    targets = [
        *world.secrets,
        world.clone / "solutions" / BOOK,
        Path("/etc/passwd"),
        Path("/dev/zero"),
        Path("/proc/self/environ"),
    ]
    for number, target in enumerate(targets):
        (folder / f"mallory{number}").mkdir()
        (folder / f"mallory{number}" / BOOK).symlink_to(target)
    (folder / "mallory_folder").symlink_to(world.clone / "solutions")
    (folder / "mallory_loop").symlink_to(folder)
    (folder / "mallory_self.ipynb").symlink_to(folder / "mallory_self.ipynb")
    (folder / "mallory.zip").symlink_to(_zip(world.folder.parent / "elsewhere.zip", (BOOK, notebook([HONEST]))))


@layout("is a link on the way to the file: the student's folder itself")
def a_linked_folder(folder: Path, world: World) -> None:
    elsewhere = world.folder.parent / "elsewhere"
    elsewhere.mkdir(exist_ok=True)
    (elsewhere / BOOK).write_bytes(notebook([HONEST]))
    (folder / "mallory").symlink_to(elsewhere)


@layout("is a FIFO, a socket, a device or a folder that is called a notebook")
def things_that_are_no_files(folder: Path, world: World) -> None:
    for name in ("fifo", "socket", "folder", "device", "zipped"):
        (folder / name).mkdir()
    os.mkfifo(folder / "fifo" / BOOK)
    os.mkfifo(folder / "zipped" / "x.zip")
    here = os.getcwd()
    os.chdir(folder / "socket")  # the name of a socket is short
    try:
        with socket.socket(socket.AF_UNIX) as line:
            line.bind("1.ipynb")
    finally:
        os.chdir(here)
    (folder / "folder" / BOOK).mkdir()
    try:
        os.mknod(folder / "device" / BOOK, 0o666 | stat.S_IFCHR, os.makedev(1, 5))
    except OSError:
        (folder / "device" / BOOK).symlink_to("/dev/zero")


@layout("is a file of a terabyte, with nothing in it")
def a_huge_file(folder: Path, world: World) -> None:
    (folder / "mallory").mkdir()
    for name in (BOOK, "x.zip"):
        with open(folder / "mallory" / name, "wb") as file:
            file.truncate(2**40)


@layout("is a folder two hundred folders deep", earns=WORTH)
def deep_folders(folder: Path, world: World) -> None:
    here = os.getcwd()
    try:
        os.chdir(folder)
        for _ in range(200):
            os.mkdir("deeper-and-deeper-and-deeper")
            os.chdir("deeper-and-deeper-and-deeper")
        Path("1.ipynb").write_bytes(notebook([HONEST]))
    finally:
        os.chdir(here)


@layout("hands in three hundred notebooks, so that nobody else's turn comes", earns=WORTH, heavy=True)
def many_files(folder: Path, world: World) -> None:
    (folder / "mallory").mkdir()
    for number in range(300):
        (folder / "mallory" / f"{number:04}.ipynb").write_bytes(notebook([HONEST]))


@layout("brings files that look like the grader's own: results, a roster, a course")
def files_of_the_grader(folder: Path, world: World) -> None:
    (folder / "mallory").mkdir()
    for name in ("result.json", "results.json", "run.json", "grades.csv", "roster.csv", "course.toml", "conftest.py", "torch.py", "sitecustomize.py",
                 "course_utils.py", "gradebook.db", "nbgrader_config.py", ".env", "__init__.py"):  # fmt: skip
        for where in (folder, folder / "mallory"):
            (where / name).write_text(f"raise SystemExit  # open({str(world.folder / 'pwned')!r}, 'w')\nmallory,15\n")
    (folder / "mallory" / BOOK).write_bytes(notebook(["import course_utils, torch, sitecustomize"]))
