"""Attacks by files that are no notebooks, or hardly: malformed, deep, huge, old, of another lesson, with claims about itself."""

from __future__ import annotations

import gzip
import json
import pickle

from attacks.bank import HONEST, KERNEL, NAME, TARGET, WORTH, WRONG, Cells, World, attack, cell, code_cell, notebook


def _tree(cells: Cells) -> dict[str, object]:
    tree: dict[str, object] = json.loads(notebook(cells))
    return tree


@attack("hands in an empty notebook, which is worth nothing")
def nothing(world: World) -> tuple[bytes, ...]:
    return (b"", b"{}", notebook([]), notebook([""]), b" " * 1000, b"null", b"[]", b"0", b'"text"')


@attack("hands in JSON that ends in the middle, or is no JSON")
def malformed(world: World) -> tuple[bytes, ...]:
    whole = notebook([HONEST])
    return (
        whole[:-20],
        whole.replace(b"{", b"("),
        b"\x00" * 100,
        b"{'cells': []}",
        whole + b"}",
        b"\xff\xfe\x00",
        whole * 2,
    )


@attack("hands in JSON that is nested a hundred thousand deep")
def deep_json(world: World) -> tuple[bytes, ...]:
    deep = b"[" * 100_000 + b"]" * 100_000
    maps = b'{"a":' * 100_000 + b"1" + b"}" * 100_000
    return (
        deep,
        maps,
        notebook([HONEST])[:-1] + b', "more": ' + deep + b"}",
        b'{"cells": ' + deep + b', "nbformat": 4}',
    )


@attack("hands in numbers that take for ever to read", earns=WORTH)
def long_numbers(world: World) -> tuple[bytes, ...]:
    return (
        b'{"nbformat": ' + b"9" * 3_000_000 + b', "cells": []}',
        b'{"nbformat": 1e999999, "nbformat_minor": -Infinity, "cells": NaN}',
        notebook([HONEST], lesson=10**400),
    )


@attack("hands in fields of other types than a notebook has", heavy=True)
def fields_of_other_types(world: World) -> tuple[bytes, ...]:
    odd: list[object] = [
        None,
        7,
        "text",
        {},
        [None],
        [7],
        [[]],
        ["text"],
        {"0": 1},
        [{}],
        [{"cell_type": "code"}],
        True,
    ]
    trees = [{**_tree([WRONG]), "cells": value} for value in odd]
    trees += [{**_tree([]), "cells": [code_cell(value)]} for value in odd]
    trees += [
        {**_tree([]), "cells": [{**code_cell(WRONG), "cell_type": value, "metadata": value}]} for value in odd[:6]
    ]
    trees += [{**_tree([WRONG]), key: value} for value in odd[:6] for key in ("metadata", "nbformat", "nbformat_minor")]
    trees += [
        {**_tree([WRONG]), "metadata": {"course": value, "kernelspec": value, "language_info": value}}
        for value in odd[:6]
    ]
    return tuple(json.dumps(tree).encode() for tree in trees)


@attack("names a lesson that there is not, or two", heavy=True)
def lessons_that_are_not(world: World) -> tuple[bytes, ...]:
    odd = [99, 0, -1, "1", "1; DROP TABLE", 1.5, True, [1], {"lesson": 1}, "../../1", None, 1e300, "\u0661", 10**30]
    return tuple(notebook([WRONG], lesson=value) for value in odd)


@attack("says that it is of another lesson, where its function is worth something else")
def of_another_lesson(world: World) -> tuple[bytes, ...]:
    return tuple(notebook([HONEST], lesson=number) for number in range(2, 8))


@attack("repeats keys, so that one reader sees another notebook than the next", earns=WORTH)
def repeated_keys(world: World) -> bytes:
    whole = notebook([HONEST]).decode()
    wrong = json.dumps([code_cell(WRONG)])
    return (whole[:-1] + f', "cells": {wrong}, "metadata": {{"course": {{"lesson": 1}}}}}}').encode()


@attack("brings 10,000 cells", earns=WORTH)
def ten_thousand_cells(world: World) -> bytes:
    return notebook([HONEST, *(f"x{number} = {number}" for number in range(10_000))])


@attack("brings 10,000 cells that each fail")
def ten_thousand_failures(world: World) -> bytes:
    return notebook(["raise RuntimeError('x' * 10_000)"] * 10_000)


@attack("defines the function ten thousand times")
def defined_often(world: World) -> bytes:
    return notebook([WRONG.replace("* 0", f"* {number}") for number in range(10_000)])


@attack("is written in another encoding")
def other_encodings(world: World) -> tuple[bytes, ...]:
    text = notebook([WRONG + "# é"]).decode().replace("\\u00e9", "é")
    return (
        text.encode("latin-1"),
        text.encode("utf-16"),
        text.encode("utf-32"),
        text.encode("utf-8-sig"),
        text.encode("utf-7"),
    )


@attack("has lone surrogates in its code, names and metadata")
def lone_surrogates(world: World) -> bytes:
    tree = _tree([WRONG, "x = '\ud800'", "raise RuntimeError('\udfff')", "print('\ud83d')"])
    tree["metadata"] = {"course": {"lesson": 1, "\ud800": "\ud800"}, "kernelspec": KERNEL, "title": "\udcff"}
    return json.dumps(tree).encode()


@attack("is of the formats of ten years ago, and of one to come")
def other_formats(world: World) -> tuple[bytes, ...]:
    cell3 = {"cell_type": "code", "input": [WRONG], "language": "python", "outputs": [], "collapsed": False}
    old = {
        "nbformat": 3,
        "nbformat_minor": 0,
        "metadata": {"name": "x"},
        "worksheets": [{"cells": [cell3], "metadata": {}}],
    }
    two = {**old, "nbformat": 2}
    one = {"nbformat": 1, "cells": [{"cell_type": "code", "code": WRONG, "prompt_number": 1}]}
    to_come = {**_tree([WRONG]), "nbformat": 9000, "nbformat_minor": 10**9}
    minus = {**_tree([WRONG]), "nbformat": -4}
    return tuple(json.dumps(each).encode() for each in (old, two, one, to_come, minus))


@attack("is a pickle, a zip, a script, a web page or a compiled module", heavy=True)
def other_files(world: World) -> tuple[bytes, ...]:
    class Bomb:
        def __reduce__(self) -> tuple[object, ...]:
            return (open, (str(world.folder / "pickled"), "w"))

    return (
        pickle.dumps(Bomb()),
        gzip.compress(notebook([HONEST])),
        gzip.compress(b"\0" * 2**28),
        HONEST.encode(),
        b"<html><script>alert(1)</script></html>",
        b"PK\x03\x04" + b"\0" * 100,
        b"\x7fELF" + b"\0" * 100,
        b"%PDF-1.4",
    )


@attack("gives its cells the marks of published ones, with points of its own")
def claims_about_cells(world: World) -> bytes:
    tree = _tree([])
    grade = {
        "nbgrader": {
            "grade": True,
            "grade_id": "check-1-2",
            "locked": True,
            "points": 10**6,
            "schema_version": 3,
            "solution": False,
        }
    }
    tree["cells"] = [
        {
            **code_cell(WRONG, "exercise-1-2"),
            "metadata": {**grade, "deletable": False, "editable": False},
            "published": True,
        },
        {**code_cell(f'check("{TARGET}", {NAME})', "check-1-2"), "metadata": grade, "points": 100},
        {**code_cell(WRONG, "check-1-2"), "metadata": {"points": 100, "course": {"points": 100, "lesson": 1}}},
    ]
    tree["metadata"] = {
        "course": {"lesson": 1, "points": 100, "score": 100},
        "grade": 100,
        "celltoolbar": "Create Assignment",
    }
    return json.dumps(tree).encode()


@attack("carries a stored output that says all is passed")
def stored_outputs(world: World) -> bytes:
    tree = _tree([WRONG, f'check("{TARGET}", {NAME})'])
    cells = tree["cells"]
    assert isinstance(cells, list)
    cells[1]["outputs"] = [
        {"output_type": "stream", "name": "stdout", "text": "Exercise 1.2: passed, 15 of 15 points"},
        {
            "output_type": "display_data",
            "data": {"text/html": "<b>15 of 15</b><script>alert(1)</script>"},
            "metadata": {},
        },
    ]
    return json.dumps(tree).encode()


@attack("puts its code into cells that are not code, and attachments")
def code_elsewhere(world: World) -> bytes:
    tree = _tree([])
    tree["cells"] = [
        {
            "cell_type": "markdown",
            "id": "a",
            "metadata": {},
            "source": HONEST,
            "attachments": {"x.py": {"text/plain": HONEST}},
        },
        {"cell_type": "raw", "id": "b", "metadata": {}, "source": HONEST},
        {"cell_type": "heading", "id": "c", "level": 1, "metadata": {}, "source": HONEST},
    ]
    return json.dumps(tree).encode()


@attack("runs its code by magics of IPython, in a shell and in other languages")
def magics(world: World) -> Cells:
    return [
        WRONG,
        "%%bash\ncat /etc/shadow",
        "%%script python3\nimport os; os._exit(0)",
        "%%writefile x.py\nraise SystemExit",
        "%run x.py",
        "%load_ext storemagic\n%store -r",
        "%cd /\n%env PATH=\n%reset -f\n%autoreload 2\n%pylab\n%colors NoColor",
        "%%javascript\nalert(1)",
        "!kill -9 -1",
        "%killbgscripts\n%debug\n%pdb on\n1 / 0",
        "get_ipython().kernel.do_shutdown(False)",
        "get_ipython().ask_exit()\nget_ipython().run_line_magic('reset', '-f')",
    ]


@attack("says that it is written in another language")
def another_language(world: World) -> bytes:
    tree = _tree([WRONG])
    tree["metadata"] = {
        "course": {"lesson": 1},
        "kernelspec": {"name": "bash", "language": "bash", "display_name": "Bash; touch pwned"},
        "language_info": {"name": "R"},
    }
    return json.dumps(tree).encode()


@attack("looks like the course's own cell, but for what cannot be seen")
def nearly_published(world: World) -> Cells:
    return [
        cell(f"""
            def {NAME}(w, x, y):
                \"\"\"The gradient of `mean((x @ w - y)**2)` for `w`. Shapes: `w (d,)`, `x (n, d)`, `y (n,)`.\"\"\"
                return ...  # your code here
        """)
        + "\u200b\n\n",
        "from course_utils import check\n\nexec(chr(112) + 'ass')",
    ]
