"""Running the bank of training loops (tests/loops/) under a ledger, as test_loops.py does and as one can by hand.

`python tests/loops_bank.py [words]` prints what is found in each script whose name holds a word.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
import types
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import torch

from gradient_ledger import Finding, GradientLedger

LOOPS = Path(__file__).resolve().parent / "loops"


@dataclass(frozen=True)
class Script:
    """One training script of the bank and what its header says of it."""

    path: Path
    header: dict[str, str]

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def window(self) -> int | None:
        given = self.header.get("window") or (re.findall(r"--window (\d+)", self.header.get("args", "")) or [None])[0]
        return int(given) if given else None

    @property
    def marked(self) -> frozenset[int]:
        """Lines marked as the place of the mistake."""
        lines = self.path.read_text(encoding="utf-8").splitlines()
        return frozenset(at for at, line in enumerate(lines, 1) if line.rstrip().endswith("# <-- bug"))


def scripts(folder: str, suffix: str = "") -> list[Script]:
    """The scripts of one folder of the bank whose names end with `suffix`."""
    return [_read(path) for path in sorted((LOOPS / folder).glob(f"*{suffix}.py"))]


def _read(path: Path) -> Script:
    header = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            break
        found = re.match(r"#\s*([a-z]+):\s*(.+)", line)
        if found:
            header[found[1]] = found[2].strip()
    return Script(path, header)


def run(
    script: Script, *, by_numbers: bool = True, digests: bool = False, beside: Iterable[GradientLedger] = ()
) -> tuple[GradientLedger, BaseException | None]:
    """Run the script under a ledger as its header asks, in this process; its own exception comes back.

    Ledgers `beside` it watch the same run: each is on its own, but only the first one takes closer looks.
    """
    module = types.ModuleType("__main__")
    module.__file__ = str(script.path)
    code = compile(script.path.read_text(encoding="utf-8"), str(script.path), "exec")
    reference = None
    words = script.header.get("args", "")
    asked = script.header.get("needs") == "reference" or script.header.get("reference") == "yes"
    if by_numbers and (asked or "--reference reference" in words):

        def reference() -> dict[str, torch.Tensor]:
            return module.reference()

    digests = digests or script.header.get("needs") == "digests"
    ledger = GradientLedger(window=script.window, reference=reference, digests=digests)
    error: BaseException | None = None
    state = torch.random.get_rng_state(), torch.get_num_threads(), torch.get_default_dtype()
    saved, arguments = sys.modules.get("__main__"), sys.argv
    torch.set_num_threads(1)
    sys.argv = [str(script.path)]
    sys.modules["__main__"] = module
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with contextlib.ExitStack() as watched:
                for one in (ledger, *beside):
                    watched.enter_context(one)
                exec(code, module.__dict__)
    except (Exception, SystemExit) as raised:
        error = raised
    finally:
        sys.argv = arguments
        if saved is not None:
            sys.modules["__main__"] = saved
        torch.random.set_rng_state(state[0])
        torch.set_num_threads(state[1])
        torch.set_default_dtype(state[2])
    return ledger, error


def accusations(ledger: GradientLedger) -> list[Finding]:
    """Findings of severity error or warning."""
    return [finding for finding in ledger.findings() if finding.severity != "info"]


if __name__ == "__main__":
    words = sys.argv[1:]
    torch.set_num_threads(1)
    tally = {"found": 0, "misnamed": 0, "wrong line": 0, "missed": 0, "extra": 0, "accused": 0, "clean": 0}
    for folder in ("bugs", "variants"):
        for script in scripts(folder):
            if words and not any(word in script.name for word in words):
                continue
            ledger, error = run(script)
            found = ledger.findings()
            lines = [f"      {f.severity:7} {f.misconception} @ {f.where} {(f.text if words else '')}" for f in found]
            if ledger.trouble:
                print("TROUBLE", script.name, ledger.trouble)
            if error is not None and "raises" not in script.header:
                print("RAISED", script.name, repr(error))
            grave = [f for f in found if f.severity != "info"]
            if "id" in script.header:
                wanted = script.header["id"]
                hits = [f for f in found if f.misconception == wanted]
                if not hits:
                    kind = "misnamed" if grave else "missed"
                elif not any(f.where and f.where.line in script.marked for f in hits):
                    kind = "wrong line"
                elif [f for f in grave if f.misconception != wanted]:
                    kind = "extra"
                else:
                    kind = "found"
                tally[kind] += 1
                if kind != "found" or words:
                    print(f"{kind.upper():11}{script.name} wanted {wanted} @ {sorted(script.marked)}")
                    print("\n".join(lines))
            else:
                kind = "accused" if grave else "clean"
                tally[kind] += 1
                if grave or words:
                    print(f"{kind.upper():11}{script.name} {script.header.get('variant', '')}")
                    print("\n".join(lines))
            if words:
                print(ledger.table() if hasattr(ledger, "x") else "")
    print(tally)
