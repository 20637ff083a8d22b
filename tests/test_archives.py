"""Files as nobody should make them: links, bombs, broken zips, names that look alike."""

from __future__ import annotations

import errno
import io
import os
import struct
import unicodedata
import zipfile
from pathlib import Path
from typing import Any

import pytest
from handed_in import LINUX, NB, lay, listed, packed, students, unreadable, warned, whose

from course_utils.grading import archives, submissions
from course_utils.grading.archives import Archive, Unreadable
from course_utils.grading.result import Submission
from course_utils.grading.submissions import find_submissions, read
from gradient_ledger.errors import UserError


def test_clutter_is_nothing_that_anybody_handed_in(tmp_path: Path) -> None:
    clutter = {f"{name}/x.ipynb": NB for name in (".ipynb_checkpoints", "__MACOSX", ".git", "__pycache__")}
    clutter |= {"._x.ipynb": NB, "venv/pyvenv.cfg": b"", "venv/lib/x.ipynb": NB}
    lay(tmp_path, {"alice": clutter | {"a.ipynb": NB}, "bob.zip": {"b.ipynb": NB} | clutter})
    labels = whose(find_submissions(tmp_path))
    assert labels["alice"] == ["alice/a.ipynb"] and "bob.zip: b.ipynb" in labels["bob"]
    assert not any("checkpoints" in label or "._x" in label or "MACOSX" in label for label in labels["bob"])


@LINUX
def test_links_pipes_and_devices_are_left_alone(tmp_path: Path) -> None:
    secret = lay(tmp_path / "secret", {"s.ipynb": NB})
    lay(tmp_path / "in", {"alice": {"a.ipynb": NB}})
    (tmp_path / "in/alice/link.ipynb").symlink_to(secret / "s.ipynb")
    (tmp_path / "in/bob").symlink_to(secret)
    (tmp_path / "in/loop").symlink_to(tmp_path / "in")
    (tmp_path / "in/all.zip").symlink_to(secret / "s.ipynb")
    os.mkfifo(tmp_path / "in/alice/pipe.ipynb")
    os.mkfifo(tmp_path / "in/pipe.zip")
    found = find_submissions(tmp_path / "in")
    assert whose(found) == {"alice": ["alice/a.ipynb"]}
    assert warned(found, "symbolic links", "bob") and warned(found, "no regular files", "pipe.zip")
    # They may have taken a file's place since.
    for name in ("alice/link.ipynb", "alice/pipe.ipynb", "bob", "alice", "gone.ipynb", "a\0b"):
        with pytest.raises(Unreadable, match="Hand in the notebook itself"):
            read(Submission("x", name, root=str(tmp_path / "in")))
        with pytest.raises(Unreadable):
            read(Submission("x", name, "x.ipynb", root=str(tmp_path / "in")))
    with pytest.raises(Unreadable):
        read(Submission("x", "/dev/zero"))


def test_what_may_not_be_read_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay(tmp_path, {"alice": {"a.ipynb": NB}, "bob": {"b.ipynb": NB}})
    scandir = os.scandir

    def refusing(path: str) -> Any:  # not by its mode: root may read everything
        if os.path.basename(path) == "alice":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    found = find_submissions(tmp_path)
    assert students(found) == ["bob"] and warned(found, "Permission denied", "alice")


@LINUX
def test_names_that_are_no_utf8_and_names_that_look_alike_stay_apart(tmp_path: Path) -> None:
    root = os.fsencode(tmp_path)
    composed, split = unicodedata.normalize("NFC", "José"), unicodedata.normalize("NFD", "José")
    names = [b"M\xfcller", composed.encode(), split.encode(), b"alice", "ali\u200bce".encode(), b"ali\nce", b"Alice"]
    for name in names:
        os.mkdir(root + b"/" + name)
        (tmp_path / os.fsdecode(name) / "x.ipynb").write_bytes(NB)
    found = find_submissions(tmp_path)
    called = students(found)
    assert len(set(called)) == len(names) and {"Müller", "José", "alice", "Alice", "ali ce"} < set(called)
    for each in found.submissions:
        (each.student + each.label).encode("utf-8")
        assert (each.student + each.label).isprintable()
    assert warned(found, "alike") and warned(found, "capitals alone", "Alice")


def test_long_names_are_cut_and_stay_apart(tmp_path: Path) -> None:
    lay(tmp_path, {f"{'n' * 200}{end}": {"x.ipynb": NB} for end in "ab"})
    called = students(find_submissions(tmp_path))
    assert len(called) == 2 and all(len(name) <= 100 for name in called)


def test_members_that_lead_out_of_their_archive_are_left_out(tmp_path: Path) -> None:
    evil = ["../../bob/x.ipynb", "/etc/x.ipynb", "a/../../x.ipynb", "..\\..\\x.ipynb", "C:\\x.ipynb", "C:x.ipynb", ".."]
    lay(tmp_path, {"in": {"alice.zip": dict.fromkeys([*evil, "ok\\a.ipynb", "./b.ipynb"], NB)}})
    found = find_submissions(tmp_path / "in")
    assert students(found) == ["alice"] and len(found.submissions) == 2
    assert warned(found, "leads out of its archive")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["alice.zip", "in"]


def test_links_and_pipes_in_a_zip_are_left_out(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, mode in (("link.ipynb", 0o120777), ("pipe.ipynb", 0o010644), ("a.ipynb", 0o100644)):
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            archive.writestr(info, NB if name == "a.ipynb" else b"/etc/passwd")
    found = find_submissions(lay(tmp_path, {"alice.zip": {}, "bob.zip": {}} | {"alice.zip": buffer.getvalue()}))
    assert whose(found) == {"alice": ["alice.zip: a.ipynb"]}
    assert warned(found, "a symbolic link", "link.ipynb") and warned(found, "a device or a pipe", "pipe.ipynb")


def test_two_members_of_one_name_are_one_and_other_capitals_are_another(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(buffer, "w") as archive:
        for name, content in (("a.ipynb", b"old"), ("a.ipynb", NB), ("A.ipynb", NB)):
            archive.writestr(name, content)
    found = find_submissions(lay(tmp_path, {"alice.zip": buffer.getvalue(), "b.ipynb": NB}))
    assert whose(found)["alice"] == ["alice.zip: A.ipynb", "alice.zip: a.ipynb"]


def test_a_zip_bomb_is_not_unpacked(tmp_path: Path) -> None:
    zeros = b"0" * (30 * 2**20)
    lay(tmp_path, {"alice.zip": {"a.ipynb": zeros, "b.ipynb": zeros[: 15 * 2**20], "c.ipynb": zeros[: 2**20]}})
    said = {}
    for each in find_submissions(tmp_path).submissions:
        try:
            said[each.member] = str(len(read(each)))
        except Unreadable as error:
            said[each.member] = str(error)
    assert "more than 20 MB" in said["a.ipynb"] and "250 times its size" in said["b.ipynb"]
    assert said["c.ipynb"] == str(2**20)


def test_a_member_that_lies_about_its_size_gives_no_more_than_the_limit() -> None:
    data = bytearray(packed({"a.ipynb": b"0" * 3_000_000}))
    for sign, at in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        place = data.index(sign) + at
        data[place : place + 4] = struct.pack("<I", 10)
    with pytest.raises(Unreadable):
        Archive(io.BytesIO(bytes(data))).read("a.ipynb", 1000)


def test_overlapping_members_are_refused() -> None:
    data = packed({"a.ipynb": NB, "b.ipynb": NB})
    first = data.index(b"PK\x01\x02")
    second = data.index(b"PK\x01\x02", first + 1)
    overlapping = bytearray(data)
    overlapping[second + 42 : second + 46] = struct.pack("<I", 0)
    with pytest.raises(Unreadable, match="overlap"):
        Archive(io.BytesIO(bytes(overlapping)))


def test_too_many_members_are_refused_before_they_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    eleven, five = _many(11), _many(5)
    monkeypatch.setattr(archives, "MAX_MEMBERS", 10)
    monkeypatch.setattr(zipfile, "ZipFile", lambda *given: pytest.fail("the list was read"))
    with pytest.raises(Unreadable, match="more than 10 files"):
        Archive(io.BytesIO(eleven))
    monkeypatch.setattr(archives, "MAX_DIRECTORY", 100)
    with pytest.raises(Unreadable, match="files"):
        Archive(io.BytesIO(five))


def _many(number: int) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for i in range(number):
            archive.writestr(f"{i}.ipynb", b"x")
    return buffer.getvalue()


@pytest.mark.parametrize("how", ["cut", "text", "empty", "flipped", "zeroed"])
def test_a_broken_zip_is_said_and_stops_nothing(tmp_path: Path, how: str) -> None:
    good = packed({"a.ipynb": NB * 50})
    data = {
        "cut": good[: len(good) // 2],
        "text": b"no zip",
        "empty": b"",
        "flipped": good[:40] + b"\xff\xff\xff" + good[43:],
        "zeroed": good[:-60] + b"\0" * 60,
    }[how]
    found = find_submissions(lay(tmp_path, {"alice.zip": data, "bob.ipynb": NB}))
    assert [each.student for each in found.submissions] == ["alice", "bob"]
    assert unreadable(found).keys() == {"alice"} and "damaged" in unreadable(found)["alice"]
    if how != "flipped":  # its list is whole, its content is not
        assert [each.label for each in found.submissions] == ["alice.zip", "bob.ipynb"]
        assert warned(found, "Zips that cannot be read", "alice.zip")


def test_one_broken_zip_of_all_is_nobodys_and_is_refused(tmp_path: Path) -> None:
    lay(tmp_path, {"download.zip": b"cut off"})
    with pytest.raises(UserError, match="download.zip cannot be opened: .*damaged.*; get it once more"):
        find_submissions(tmp_path / "download.zip")


def test_a_member_without_a_name_is_left_out() -> None:
    data = packed({"a.ipynb": b"", "@": b""}).replace(b"@", b"\0")
    faults = {member.name: member.fault for member in Archive(io.BytesIO(data)).members()}
    assert faults["a.ipynb"] == "" and "leads out" in faults[""]


def test_zips_of_other_kinds_are_said(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a.ipynb", NB)
    locked = bytearray(packed({"a.ipynb": NB}))
    for sign, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        locked[locked.index(sign) + at] |= 1
    lay(tmp_path, {"alice.zip": buffer.getvalue(), "bob.zip": bytes(locked), "carol": {"work.tar.gz": b"x"}})
    found = find_submissions(tmp_path)
    why = unreadable(found)
    assert "packed in an unusual way" in why["alice"] and "locked with a password" in why["bob"] and len(why) == 2
    assert (
        warned(found, "unusual way", "alice") and warned(found, "password", "bob") and warned(found, "no zip", "carol")
    )


def test_a_zip_in_a_zip_is_opened_and_one_more_is_not(tmp_path: Path) -> None:
    third = packed({"c.ipynb": NB})
    lay(tmp_path, {"in": {"alice.zip": {"a.zip": {"b.ipynb": NB, "c.zip": third}, "bad.zip": b"x"}, "bob.ipynb": NB}})
    found = find_submissions(tmp_path / "in")
    labels = [each.label for each in found.submissions]
    assert labels == ["alice.zip: a.zip: b.ipynb", "alice.zip: bad.zip", "bob.ipynb"]
    assert "damaged" in unreadable(found)["alice"]
    assert warned(found, "zips in a zip in a zip", "c.zip") and warned(found, "cannot be read", "bad.zip")


def test_a_large_nested_zip_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_NESTED", 1000)
    lay(tmp_path, {"alice.zip": {"big.zip": packed({f"{i}.ipynb": NB for i in range(50)})}, "bob.ipynb": NB})
    found = find_submissions(tmp_path)
    assert [each.student for each in found.submissions] == ["alice", "bob"] and len(unreadable(found)) == 1
    assert warned(found, "cannot be read", "big.zip")


def test_names_in_a_zip_are_utf8_even_where_it_does_not_say_so(tmp_path: Path) -> None:
    data = packed({"J\u00f6rg/x.ipynb": NB, "bob/x.ipynb": NB})
    unmarked = bytearray(data)
    at = -1
    for sign, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.index(sign)
        unmarked[at + flags : at + flags + 2] = b"\0\0"
    assert students(find_submissions(lay(tmp_path, {"all.zip": bytes(unmarked)}))) == ["Jörg", "bob"]


def test_a_large_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.ipynb"
    with path.open("wb") as file:
        file.truncate(21 * 2**20)
    with pytest.raises(Unreadable, match="more than 20 MB"):
        read(find_submissions(tmp_path).submissions[0])


def test_folders_too_deep_and_notebooks_too_many_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay(tmp_path, {"alice": {"/".join("d" * 40) + "/x.ipynb": NB}, "bob.zip": {"d/" * 40 + "x.ipynb": NB}})
    monkeypatch.setattr(submissions, "MAX_PER_STUDENT", 3)
    lay(tmp_path, {"carol.zip": {f"{i}.ipynb": NB for i in range(8)}, "dan.ipynb": NB})
    found = find_submissions(tmp_path)
    assert whose(found)["carol"] == [f"carol.zip: {i}.ipynb" for i in (5, 6, 7)]
    assert warned(found, "too many folders", "alice") and warned(found, "too long a name", "bob")
    assert warned(found, "More than 3 notebooks", "carol")


def test_many_students_are_found_with_work_that_grows_no_faster_than_they(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = []
    real = archives.Archive
    monkeypatch.setattr(archives, "Archive", lambda file: opened.append(1) or real(file))
    lay(tmp_path, {"all.zip": {f"s{i}/x.ipynb": NB for i in range(3000)}})
    known = listed(tmp_path, "id\n" + "".join(f"s{i}\n" for i in range(0, 6000, 2)))
    found = find_submissions(tmp_path / "all.zip", known)
    assert len(whose(found)) == 3000
    assert len(opened) == 1, "the list of members was read again"
    assert all(len(line) < 1000 for line in found.warnings) and warned(found, "Not in the roster", "and 1,495 more")
