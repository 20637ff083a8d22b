"""The bank of training loops: every mistake found under its own name and at its line, nothing right accused."""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator
from pathlib import Path

import loops_bank
import pytest
from loops_bank import Script, accusations, run, scripts

from gradient_ledger import GradientLedger, closelook
from gradient_ledger.catalogue import catalogue
from gradient_ledger.events import Step

BUGGY = scripts("bugs", "__buggy")
FIXED = scripts("bugs", "__fixed")
VARIANTS = scripts("variants")
TRIALS = scripts("trials")
RIGHT_TRIALS = [trial for trial in TRIALS if trial.header["truth"] == "clean"]


FACTS = """
B01 B02 B03 B04 B05 B61 B46 B06 B07 B08 B08b B59 B31 B29 B57 B09 B10 B11 B44 B19 B20 B43 B12 B13 B14 B15 B16 B17 B18
B60 B62 B65 B66 B67 B68 B69 B70 B70b B71 B72 B74 B75 B76 B77 B78 B79 B80 B81 B82 B83 B84 B85 B86 B87 B88 B89 B90 B91
B92 B93 B94 B95 B96 B97 B98 B99 B100 B101 B102 B103 B104 B105 B106 B107 B108 B109 B110 B111 B112 B114 B116 B117
B118 B119 B120 B121 B122 B123 B21 B22 B23 B24 B25 B26 B27 B28 B32 B36 B45 B58 B63 B37 B38 B64 B124 B125 B126 B127 B128
B129 B142 B143 B144 B136 B137 B138 B139 B140 B141 B130 B131 B132 B133 B134 B135 B145 B146 B147 B148 B149 B150 B151
B152 B153 B154 B155 B156 B157 B158 B159 B160 B161 B162 B163 B164 B165 B166 B167 B168 B169 B170 B171 B172 B173 B174
B175 B176 B177 B178 B179 B182 B183 B184 B185 B186 B187 B188 B189 B190 B191 B192 B195 B196 B201 B202 B203 B204 B205
B206 B207 B208 B209 B213 B214 B215 B216 B217 B218 B219 B220 B221 B222 B223 B224 B225 B226 B227
B228 B229 B230 B231 B232 B233 B234 B235 B236 B237 B238 B239 B240 B241 B242 B243 B244 B245
B246 B247 B248 B249 B250 B251 B252 B253 B254 B255 B256 B257 B258 B259 B260 B261 B262 B263 B264
B265 B266 B267 B268 B269 B270 B271 B272 B273 B274 B275 B276 B277 B278 B279 B280 B281 B282 B283 B284 B285 B286 B287 B288
B289 B290 B291 B292 B293 B294 B295 B296 B297 B298 B299 B300
""".split()
"""The bugs of the catalogue that one CPU process can show; B39 to B42 are in test_distributed.py."""


NOTES = {"summed-loss-keeps-graphs", "contrastive-loss-accumulated", "batchnorm-per-micro-batch"}
"""Right in what they compute, and a waste of memory or not what a large batch does: a note is what they deserve."""


@pytest.fixture(scope="module", autouse=True)
def thawed_in_the_end() -> Iterator[None]:
    yield
    gc.unfreeze()


@pytest.fixture(autouse=True)
def nothing_but_the_script() -> None:
    """A ledger may ask the collector for all models there are: what the test run has made is not among them."""
    gc.collect()
    gc.freeze()


def _by_name(script: Script) -> str:
    return script.name


@pytest.mark.turns
@pytest.mark.parametrize("script", BUGGY, ids=_by_name)
def test_a_mistake_is_found_under_its_name_at_its_line(script: Script) -> None:
    ledger, error = run(script)
    assert not ledger.trouble, ledger.trouble
    assert (type(error).__name__ if error else None) == script.header.get("raises")
    wanted = script.header["id"]
    found = ledger.findings()
    hits = [one for one in found if one.misconception == wanted]
    assert hits, f"wanted {wanted}, found {[one.misconception for one in found]}"
    if wanted not in NOTES and script.header.get("severity") != "info":
        assert hits[0].severity in ("error", "warning")
    lines = {one.where.line for one in hits if one.where is not None and Path(one.where.file) == script.path}
    assert lines & script.marked, f"{wanted} at lines {sorted(lines)}, marked are {sorted(script.marked)}"
    others = {one.misconception for one in accusations(ledger)} - {wanted}
    assert not others, f"one cause, and beside it also: {sorted(others)}"
    for one in hits:
        assert one.remedy and one.text
        assert one.misconception in catalogue()


@pytest.mark.turns
@pytest.mark.parametrize("script", [one for one in BUGGY if one.header["id"] == "average-shares-memory"], ids=_by_name)
def test_what_torch_2_6_cannot_tell_of_memory_the_text_can(script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(closelook, "_holders", None)
    test_a_mistake_is_found_under_its_name_at_its_line(script)


@pytest.mark.turns
@pytest.mark.parametrize("script", FIXED + VARIANTS, ids=_by_name)
def test_a_right_loop_is_not_accused_under_any_option(script: Script) -> None:
    """As its header asks; with every gradient read; and without the help of a window or a reference."""
    window = None if script.header.get("reference") == "yes" else script.window  # numbers settle what a window says
    others = [GradientLedger(window=window, digests=True), GradientLedger()]
    if script.header.get("alone") == "yes":
        others = [run(script, digests=True)[0], run(script, by_numbers=False)[0]]
        ledger, error = run(script)
    else:
        ledger, error = run(script, beside=others)
    assert error is None
    for one in (ledger, *others):
        assert not one.trouble, one.trouble
        assert [(found.misconception, str(found.where), found.text) for found in accusations(one)] == []


@pytest.mark.turns
@pytest.mark.parametrize("script", RIGHT_TRIALS, ids=_by_name)
def test_a_right_trial_is_not_accused_when_every_gradient_is_read(script: Script) -> None:
    ledger, _ = run(script, digests=True)
    assert not ledger.trouble, ledger.trouble
    assert [(one.misconception, str(one.where), one.text) for one in accusations(ledger)] == []


@pytest.mark.turns
@pytest.mark.parametrize("script", [s for s in FIXED + VARIANTS if s.header.get("reference") == "yes"], ids=_by_name)
def test_a_reference_is_compared_and_agrees(script: Script) -> None:
    ledger, _ = run(script)
    checks = [e.reference for e in ledger.events if isinstance(e, Step) and e.reference is not None]
    assert checks, "no step was compared with the reference"
    assert all(check.right for check in checks), checks[0]


@pytest.mark.turns
@pytest.mark.parametrize("script", TRIALS, ids=_by_name)
def test_a_trial_by_somebody_who_wanted_to_break_it(script: Script) -> None:
    ledger, error = run(script)
    assert not ledger.trouble, ledger.trouble
    truth = set() if script.header["truth"] == "clean" else set(script.header["truth"].split())
    assert {one.misconception for one in accusations(ledger)} == truth
    for name in truth if script.marked else ():
        lines = {one.where.line for one in ledger.findings() if one.misconception == name and one.where is not None}
        assert lines & script.marked, f"{name} at lines {sorted(lines)}, marked are {sorted(script.marked)}"


def test_the_bank_covers_the_catalogue() -> None:
    shown = {script.header["bug"] for script in BUGGY}
    assert sorted(set(FACTS) - shown) == []
    styles = {bug: sum(script.header["bug"] == bug for script in BUGGY) for bug in FACTS}
    assert min(styles.values()) >= 2
    assert len(VARIANTS) >= 41


def test_every_script_of_the_bank_is_judged() -> None:
    judged = {script.path for script in BUGGY + FIXED + VARIANTS + TRIALS}
    present = {path for folder in ("bugs", "variants", "trials") for path in (loops_bank.LOOPS / folder).glob("*.py")}
    assert present == judged
    for script in FIXED:
        assert not script.marked and "id" not in script.header, script.name
        assert re.sub("__fixed$", "__buggy", script.name) in {buggy.name for buggy in BUGGY}


def test_the_audit_names_only_what_the_catalogue_explains() -> None:
    named = {shadow for entry in catalogue().values() for shadow in entry.shadows}
    assert sorted(named - set(catalogue())) == []
