"""The one setting that says where the course lives: `[tool.course] repository` in `pyproject.toml`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from course_utils.authoring.files import AuthoringError, write

_GITHUB = re.compile(r"(?:https://github\.com/|git@github\.com:)?([\w-][\w.-]*)/([\w.-]+?)(?:\.git)?/?")
_SECTION = re.compile(r"^\[tool\.course\][^\n]*\n(?:(?!\[)[^\n]*\n?)*", re.MULTILINE)
_SETTING = re.compile(r'^repository *= *"([^"\n]*)"', re.MULTILINE)


@dataclass(frozen=True)
class Repository:
    """Where the package is installed from. `github` is `OWNER/NAME`, or empty elsewhere: then no badge."""

    requirement: str
    github: str = ""

    def badge(self, slug: str) -> str:
        """Markdown of the Colab badge of one lesson, or an empty string."""
        if not self.github:
            return ""
        target = f"https://colab.research.google.com/github/{self.github}/blob/HEAD/notebooks/{slug}.ipynb"
        return (
            f"[![Open this lesson in Google Colab](https://colab.research.google.com/assets/colab-badge.svg)]({target})"
        )


NOWHERE = Repository("")


def read_setting(root: Path) -> str:
    """The setting as written, empty when there is none."""
    path = root / "pyproject.toml"
    section = _SECTION.search(path.read_text(encoding="utf-8")) if path.is_file() else None
    setting = _SETTING.search(section[0]) if section else None
    return setting[1] if setting else ""


def write_setting(root: Path, value: str) -> None:
    """Put `value` into the setting, everything else in the file as it was."""
    if '"' in value or "\\" in value or "\n" in value:
        raise AuthoringError(f"--repository {value}: it cannot hold quotes, backslashes or line breaks")
    path = root / "pyproject.toml"
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    line = f'repository = "{value}"'
    section = _SECTION.search(text)
    if section is None:
        text = text.rstrip("\n") + ("\n\n" if text.strip() else "") + f"[tool.course]\n{line}\n"
    else:
        body = section[0]
        changed = (
            _SETTING.sub(lambda _: line, body, count=1)
            if _SETTING.search(body)
            else body.replace("\n", f"\n{line}\n", 1)
        )
        text = text[: section.start()] + changed + text[section.end() :]
    write(path, text)


def repository(value: str) -> Repository:
    """What a setting means: `OWNER/NAME` on GitHub, a git URL, a `file:` URL, or the path of a folder that exists.

    Raises `AuthoringError` for anything else.
    """
    value = value.strip()
    if not value:
        return NOWHERE
    if value.startswith("git+"):
        return Repository(value)
    folder = Path(value.removeprefix("file://")).expanduser()
    if value.startswith("file://") or (folder.is_dir() and (folder.is_absolute() or value.startswith("."))):
        # A folder with a project is installed as it stands; a bare repository only through git.
        url = folder.resolve().as_uri()
        return Repository(url if (folder / "pyproject.toml").is_file() else f"git+{url}")
    github = _GITHUB.fullmatch(value)
    if github:
        name = f"{github[1]}/{github[2]}"
        # The archive needs no git on the learner's machine; HEAD is the default branch, whatever its name.
        return Repository(f"https://github.com/{name}/archive/HEAD.zip", name)
    if "://" in value:
        return Repository(f"git+{value}")
    raise AuthoringError(f"--repository {value}: not a repository; give OWNER/NAME, a git URL, or the path of a folder")
