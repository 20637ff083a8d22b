"""Measures the audit on mistakes that others planted in public scripts, or reported of them, without having seen it.

Usage: python benchmarks/blind.py brief --seed 30 --planter A [--scripts 4] [--kinds listed] [--usual] > brief.md
       python benchmarks/blind.py brief --reported --kinds listed --scripts 9 … > brief.md
       python benchmarks/blind.py audit SET… --out FOLDER [--python PYTHON]
       python benchmarks/blind.py score SET… --out FOLDER

A bank that one writes oneself proves what one thought of. So planters, who see neither tool nor rules nor tests nor
documentation, get a brief: take public scripts, make them run, keep a right copy, plant three mistakes in three
further copies. Which mistakes is not theirs to choose, for what people like to hide says more of them than of the
tool: `brief` draws the order of the kinds for each script by dice, and the planter takes the first three that can be
made there. What is planted is still what planters think of; so `brief --reported` asks for mistakes that people made
in earnest: the first thread of a search that reports one, rebuilt from the repository it is of, one a script.

A set is a folder with `pNNNN/` for each script: `right.py`, `m1.py` (`m2.py`, `m3.py`) and `truth.json`, as the brief
says. `audit` runs each of them as a user would, without options, and writes one JSON report each; run it from a clone
that stands still, before anything is mended on the set. `score` prints what was found where: a mistake whose line, or
the line it was called at, a finding names within one line counts as found "on the line", and one whose line stands
among the further ones that a finding shows ("made at …") as told "beside"; whether the name is the right one is for a
reader to say, so it prints them side by side. Every finding of a right copy is printed too.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# The mistakes of the course's catalogue and of what unseen code showed, in plain words and without their ids. Left
# out is what needs several processes and what raises an error by itself.
KINDS = (
    "gradients are never cleared",
    "gradients are cleared between the backward and the step",
    "gradients are cleared once an epoch (or once in many steps), and stepped on every batch",
    "gradients are cleared inside an accumulation window, so that only its last micro-batch counts",
    "the clear goes to the wrong object (another optimizer, another model, one that was replaced)",
    "an optimizer with a closure whose closure does not clear",
    "under accumulation the loss is not divided by the number of micro-batches, although the program's own words "
    "(names, comments, help texts) say that it averages",
    "the loss or the gradient is divided twice",
    "mean of means: micro-batches of unequal token or sample counts each take their own mean",
    "one backward over the summed losses of a window, so that all graphs are kept",
    "gradients are divided at every micro-batch in place of once",
    "a running sum of losses goes backward at every micro-batch",
    "a loss, or a part of it, goes backward twice",
    "a gradient hook is registered again in every iteration",
    "the last, short accumulation window of an epoch is dropped",
    "the last, short window leaks into the next epoch",
    "the last, short window is stepped but divided by the full number of micro-batches",
    "a `continue` or a guard puts the windows out of step",
    "the learning-rate schedule is stepped on micro-batches, or epochs and steps are mixed up in it",
    "the schedule is stepped although the scaler skipped the step",
    "an optimizer that steps inside the backward (hooks), with accumulation",
    "clipping at every micro-batch",
    "clipping before the gradients are unscaled",
    "clipping after the step",
    "clipping before the backward",
    "clipping something else than what is stepped (another model, one of two, one group)",
    "with a scaler: the optimizer's own step is called in place of the scaler's",
    "with a scaler: unscale and update at every micro-batch",
    "with a scaler: the loss, or one of two losses, is not scaled",
    "inf or nan gradients of a skipped or bad step stay in `.grad`",
    "one autocast block around the whole loop, steps included",
    "of two optimizers one is cleared",
    "a parameter is held by two optimizers",
    "a backward for one model leaves gradients in another (a `detach()` is missing)",
    "a layer is replaced, added or re-made after the optimizer was built",
    "part of the model, or a second model, is left out of the optimizer",
    "the optimizer clears less than the model has, and the clip counts it all",
    "a frozen part moves (stale gradients, momentum or weight decay), or a part that should train is frozen",
    "zeros in place of None move what was not used",
    "the graph is cut (`detach`, `.item()`, `.data`, `no_grad`, NumPy) where gradients should flow",
    "a checkpoint whose input needs no gradient, or that draws other random numbers",
    "a backward for the gradient of an input (attack, saliency, penalty) pollutes the parameters",
    "gradients or weights are changed behind autograd's back (`.data`, NumPy)",
    "two parameters share one gradient or one memory",
    "BatchNorm or other statistics: wrong mode, or fed what they should not see",
    "accumulation, averages or parameters in a half-precision format",
    "a nan guard that passes over the end of a window, or no guard where there was one",
    "a running average or teacher or target network: updated at the wrong place, with wrong factors or weights, of the "
    "wrong model, sharing memory, or never",
    "an auxiliary loss or penalty is not divided, weighted or reduced as the main loss is",
    "a contrastive or whole-batch loss is accumulated in micro-batches",
    "a run is resumed in the middle of a window, or a state is not restored",
    "gradients are kept outside `.grad` (buffers, lists, per-task gradients), and some of them get lost",
    "the first window is shorter than the rest (`step % k == 0` counted from 0)",
    "a backward is indented one level too shallow or too deep, or a loss is overwritten before it",
    "train and eval mode: training goes on in the wrong one",
    "targets, advantages, old log-probabilities or states that should be constants carry a graph, or the other way",
)

# The same field entry by entry: each mistake of the course's catalogue of bugs and of the open list of what the audit
# should find, in the words of those lists. The kinds above are wider than that ("a loss, or a part of it", "wrong
# factors or weights"), and what is general can be made in nearly every script. First runs came out alike: 216 of 276
# found by the wide list (sets 33 to 39), 62 of 84 by this one (sets 40 and 41). Left out, as above: what needs several
# processes or another library, what raises an error.
LISTED = (
    "gradients are never cleared",
    "`zero_grad()` between backward and step",
    "`zero_grad(set_to_none=False)`, or zeros by hand, between backward and step, with momentum or weight decay",
    "cleared once an epoch, stepped on every batch",
    "cleared inside the accumulation window: only the last micro-batch survives",
    "cleared on the wrong object (an optimizer or a model that was replaced)",
    "an LBFGS closure (or another closure) that does not clear",
    "the loss is not divided by the number of micro-batches, although the program's own words say that it averages",
    "the loss or gradient is divided twice (by the loop and by what it calls, or by a hook)",
    "the mean of per-micro-batch means where micro-batches hold unequal token or sample counts",
    "one backward over the summed loss of a window, which keeps all its graphs",
    "`p.grad /= k` at every micro-batch",
    "a running sum of losses that goes backward at every micro-batch",
    "a loss that goes backward twice (`retain_graph`, then again inside a sum)",
    "a gradient hook that is registered in every iteration",
    "the last, short window is dropped (cleared at the epoch's start)",
    "the last, short window leaks into the next epoch",
    "the last, short window is stepped, but divided by the full number",
    "a `continue` puts the windows out of step",
    "the schedule is stepped on every micro-batch",
    "the schedule is stepped although the scaler skipped the step",
    "an optimizer that steps in the backward, under accumulation",
    "clipping at every micro-batch",
    "clipping before `unscale_`",
    "clipping after the step",
    "clipping before the backward",
    "`optimizer.step()` in place of `scaler.step(optimizer)`",
    "`unscale_` and `update` at every micro-batch",
    "`loss.backward()` without `scaler.scale`, for the loss or one of the losses",
    "inf left in `.grad` after a skipped step (cleared only when a step was taken)",
    "the whole loop in one `autocast` block, steps included",
    "two optimizers, of which one is cleared",
    "a parameter in two optimizers, both of which step it",
    "a GAN's discriminator backward reaches the generator (no `detach`, not cleared again)",
    "a layer replaced after the optimizer was built",
    "the optimizer clears less than the model has, and the clip takes the whole model",
    "frozen by `requires_grad_(False)` with a gradient left over, which the optimizer goes on using",
    "zeros in place of None on a branch that was not used: momentum or weight decay moves it",
    "the graph is cut: `detach`, `.item()` or `no_grad` where gradients should flow",
    "a reentrant checkpoint whose input needs no gradient",
    "an attack's or a saliency's backward pollutes the parameters' gradients",
    "gradients edited through `.numpy()` or `.data`",
    "two parameters share one `.grad` tensor",
    "BatchNorm in train mode under accumulation: statistics of each micro-batch",
    "gradients are accumulated in bfloat16 or float16",
    "an optimizer inside an optimizer: what the outer hands to an inner one is not cleared",
    "a gradient that is not finite is stepped on, without a scaler (a guard is gone)",
    "a nan guard whose `continue` passes over the window's boundary",
    "an average or teacher that is updated once a micro-batch in place of once a step",
    "an auxiliary loss is undivided beside a divided main loss",
    "a contrastive loss is accumulated over micro-batches",
    "training is resumed in the middle of a window",
    "gradients kept outside `.grad`, of which only the last micro-batch arrives",
    "a backward indented one level too shallow: after the inner loop, so that only its last loss counts",
    "`step % k == 0` in place of `(step + 1) % k == 0`: the first window is short",
    "a training forward whose loss never goes backward inside a window",
    "the step inside the window: at every micro-batch, while the clear stands at its end",
    "`scaler.step` is missing, or a scaler whose `scale` is never called",
    "half a model, or a second one, is left out of the optimizer",
    "one path of two is under `no_grad` or detached",
)

DRAWN_FROM = {"wide": KINDS, "listed": LISTED}

# How a mistake is made. Planters are asked for ways that are not the most obvious; what a user meets most often is the
# usual slip, so that can be asked for, too. First runs: 62 of 84 found the one way (sets 40 and 41), 157 of 180 the
# other (sets 45 to 49).
VARIED = "*How* it is made is yours; do it in the way that people get it wrong, not in the most obvious one, and not \
always in the same way."
USUAL = "Make it as it is made most often: the slip that you would expect to meet in other people's code of that sort."

# How many subjects are drawn for a reported mistake: the search for each gives twelve threads.
SUBJECTS = 8

BRIEF = """# Planting mistakes in public training scripts (planter {planter}, set {seed})

You test a tool that you must not look at. Work in `{folder}` alone. Do **not** open, list or search anything under
`/work` or any other folder in `/tmp`: no rules, tests or docs of that tool. Python with torch (CPU) is
`{python}`; install nothing. Two cores are shared by three of you: run scripts with `OMP_NUM_THREADS=1`, one at a time,
with `timeout 120`.

1. **Find {scripts} public PyTorch training scripts** (tools `search` with corpus "code", `find_repos`, `find_files`,
   `read_file`, `find_string`; at most {lookups} look-ups in all), each from another repository, of different fields
   (language, images, GANs, reinforcement learning, diffusion, graphs, audio, segmentation, distillation, contrastive,
   meta-learning, mixed precision, accumulation …), not famous tutorials, with a hand-written loop. Prefer such whose
   loop has something in it: accumulation, a scaler, clipping, two optimizers, an average, a schedule, a checkpoint,
   several losses.
2. **Make each run on its own** as `{folder}/pNNNN/right.py`: one file (folders `p{first}` to `p{last}`). Model, loss
   and loop stay the author's, as little changed as can be; replace data by small synthetic tensors, options by small
   defaults, missing libraries by the smallest stand-in, sizes so that it runs in 5 to 20 s on one core, with at least
   20 optimizer steps, 2 epochs if it has epochs. Keep the author's accumulation, scaler (as
   `torch.amp.GradScaler("cpu")` where it was cuda's), schedule, average. Read the right copy once more as a reviewer:
   if the author's own code has a mistake with gradients, write it down in `truth.json` under `authors` (line and one
   sentence) and leave it.
3. **Plant three mistakes**, one in each of `m1.py`, `m2.py`, `m3.py` (a copy of `right.py` and one mistake, which
   raises no error and which somebody could make by accident: a real slip in that script, in its style, with no comment
   that tells it). *Which* kinds is drawn by dice below: go through the script's list from its beginning and take the
   first three that can be made there; where a kind cannot be made (no scaler, no second model …) skip it and say why
   in `skipped`. Do not change the script to make a kind possible.
   {manner}
   It must change training: check that the losses or weights differ from `right.py`'s (the last is the exception of
   kinds that only waste memory).
4. **`truth.json`** in each folder:
   `{{"source": "owner/repo path", "authors": [[line, "…"]], "skipped": [["kind", "why"]],
   "mistakes": {{"m1.py": {{"lines": [..], "kind": "the kind's words", "what": "one sentence: what goes wrong and what
   would mend it"}}, "m2.py": …, "m3.py": …}}}}`. `lines` are lines of that file which a person would have to change,
   move or delete; where a call is missing, the lines it belongs beside.

When all is done, check that every file runs with exit status 0 and answer with one line a script: its field, its
kinds. Do not describe more.

## The kinds, in the order drawn for each script

{lists}
"""

# What planters hide is what planters think of. This brief asks for none of it: for mistakes that somebody made in
# earnest, and that somebody else found and reported. The dice draw what is looked for first.
REPORTED = """# Rebuilding reported mistakes of public training code (rebuilder {planter}, set {seed})

You test a tool that you must not look at. Work in `{folder}` alone. Do **not** open, list or search anything under
`/work` or any other folder in `/tmp`: no rules, tests or docs of that tool. Python with torch (CPU) is
`{python}`; install nothing. Two cores are shared by four of you: run scripts with `OMP_NUM_THREADS=1`, one at a time,
with `timeout 120`. At most {lookups} look-ups in all.

Wanted: {scripts} **real** mistakes, each of another repository: code that its authors published in earnest, of which
somebody reported (in an issue, a pull request, a question) that it goes wrong with gradients, optimizers, losses,
schedules, modes or averages **without raising an error**, and in which he was right. For each number below:

1. **Find the report.** `search` with corpus "issues" (or "pages" for questions with code), for the first subject of
   the number's list, in your own words. Go through the results in the order they come and take the **first** one that
   is real: a silent mistake of training, in code of PyTorch, that you can rebuild on one CPU with torch alone. It need
   not be of the subject looked for. If none of the twelve will do, take the next subject. Do not pass over one since it
   is hard, dull or unlike the others; pass over what raises an error by itself, needs several processes to go wrong, is
   a mistake inside torch itself, only asks how things work, or was shown in the thread to be no mistake.
2. **Rebuild it** as `{folder}/pNNNN/m1.py`: one file, with the authors' own training code around the mistake. Read the
   code where it is stored (`find_files`, `read_file`, `find_string`); what the thread quotes will do where it is not.
   Model, loss and loop stay the authors', in their shape, names and order, as little changed as can be (also what a
   trainer class or a library of theirs does around the loop, as far as it matters); replace data by small synthetic
   tensors, options by the authors' defaults or by those with which the reporter saw it, missing libraries by the
   smallest stand-in, sizes so that it runs in 5 to 20 s on one core, with at least 20 optimizer steps, 2 epochs if it
   has epochs. Scalers as `torch.amp.GradScaler("cpu")`. Leave no comment that tells of the mistake.
3. **Mend it** as `right.py`: the same file with the smallest repair, the one that the thread, the pull request or the
   later version of the repository has. Check that losses or weights of the two differ (but for a mistake that only
   costs memory), and that both run with exit status 0. If the authors' code has another mistake with gradients, which
   nobody reported, leave it in both and write it down under `authors`.
4. **`truth.json`** beside them: `{{"source": "owner/repo path", "thread": "its address", "authors": [[line, "…"]],
   "skipped": [["address of a thread passed over that was about a mistake", "why"]],
   "mistakes": {{"m1.py": {{"lines": [..], "kind": "the subject it is of, or your words", "what": "one sentence: what
   goes wrong and what mends it"}}}}}}`. `lines` are the lines of m1.py which a person would have to change, move or
   delete; where a call is missing, the lines it belongs beside.

Write each number's files as soon as they are ready, then go on to the next. When all is done, answer with one line a
number: repository, kind. Do not describe more.

## What to look for, in the order drawn for each number

{lists}
"""


@dataclass(frozen=True)
class Planted:
    """One mistake: the script it stands in, the lines a person would change, and what the planter says of it."""

    script: Path
    lines: list[int]
    kind: str
    what: str


def brief(
    seed: int,
    planter: str,
    scripts: int,
    first: int,
    folder: str,
    python: str,
    lookups: int,
    kinds: str = "wide",
    reported: bool = False,
    usual: bool = False,
) -> str:
    """Returns the text for one planter; the same seed, planter and first number give the same order of kinds."""
    drawn_from = DRAWN_FROM[kinds]
    dice = random.Random(f"{seed} {planter}")
    lists = []
    for number in range(first, first + scripts):
        order = dice.sample(drawn_from, SUBJECTS if reported else len(drawn_from))
        lists.append(f"### p{number}\n" + "\n".join(f"{i}. {kind}" for i, kind in enumerate(order, 1)))
    return (REPORTED if reported else BRIEF).format(
        planter=planter,
        seed=seed,
        scripts=scripts,
        first=first,
        last=first + scripts - 1,
        folder=folder,
        python=python,
        lookups=lookups,
        manner=USUAL if usual else VARIED,
        lists="\n\n".join(lists),
    )


def planted(folder: Path) -> Iterator[Planted]:
    """Yields the mistakes of one script's folder by its `truth.json`."""
    truth = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
    for name, told in sorted(truth["mistakes"].items()):
        yield Planted(folder / name, [int(line) for line in told["lines"]], told["kind"], told["what"])


def folders(sets: list[Path]) -> list[Path]:
    """The folders of all scripts in these sets, in order."""
    return sorted(path.parent for one in sets for path in one.glob("p*/truth.json"))


def report_of(script: Path, out: Path) -> Path:
    """Where the report on a script lies."""
    return out / f"{script.parent.name}_{script.stem}.json"


def audit(sets: list[Path], out: Path, python: str, only: str) -> None:
    """Audits every script of these sets without options, one at a time; reports that exist are kept."""
    out.mkdir(parents=True, exist_ok=True)
    scripts = [script for folder in folders(sets) for script in sorted(folder.glob("*.py")) if only in script.stem]
    for number, script in enumerate(scripts, 1):
        target = report_of(script, out)
        if target.exists():
            continue
        command = [python, "-m", "gradient_ledger", "--json", script.name]
        try:
            done = subprocess.run(command, cwd=script.parent, capture_output=True, text=True, timeout=300)
            text, error = done.stdout, done.stderr
        except subprocess.TimeoutExpired:
            text, error = "", "took more than 300 s"
        partial = target.with_suffix(".part")
        partial.write_text(text or json.dumps({"findings": [], "error": error[-2000:]}), encoding="utf-8")
        partial.replace(target)
        print(f"{number} of {len(scripts)}: {script.parent.name}/{script.name}", flush=True)


def _findings(script: Path, out: Path) -> list[dict[str, Any]]:
    report = report_of(script, out)
    found: list[dict[str, Any]] = json.loads(report.read_text(encoding="utf-8"))["findings"] if report.exists() else []
    return found


def _trouble(script: Path, out: Path) -> str:
    """The last line of what went wrong in the audit itself."""
    report = report_of(script, out)
    told = json.loads(report.read_text(encoding="utf-8")) if report.exists() else {}
    lines = str(told.get("trouble") or told.get("error") or "").strip().splitlines()
    return lines[-1] if lines else ""


def _lines(finding: dict[str, Any]) -> set[int]:
    """The lines that a finding names: its own and where that was called."""
    return {int(place["line"]) for place in (finding["where"], finding["called_at"]) if place}


def _beside(finding: dict[str, Any]) -> set[int]:
    """The further lines that it shows: the places of its evidence."""
    return {int(one["line"]) for one in finding["evidence"].values() if isinstance(one, dict) and "line" in one}


def score(sets: list[Path], out: Path) -> None:
    """Prints each mistake beside what the audit says of it and, as gravely, not of the right copy, and all it says of
    right ones."""
    total = near = beside = 0
    for folder in folders(sets):
        for script in sorted(folder.glob("*.py")):
            if trouble := _trouble(script, out):
                print(f"{folder.name} {script.stem} TROUBLE: {trouble}")
        right = _findings(folder / "right.py", out)
        for finding in right:
            print(f"{folder.name} right: {finding['severity']} {finding['misconception']} {sorted(_lines(finding))}")
        known = {(finding["severity"], finding["misconception"]) for finding in right}
        for mistake in planted(folder):
            total += 1
            found = _findings(mistake.script, out)
            new = [f for f in found if (f["severity"], f["misconception"]) not in known]
            on_line = any(abs(a - b) <= 1 for f in new for a in _lines(f) for b in mistake.lines)
            shown = not on_line and any(abs(a - b) <= 1 for f in new for a in _beside(f) for b in mistake.lines)
            near, beside = near + on_line, beside + shown
            told = " ON LINE" if on_line else " BESIDE" if shown else ""
            print(f"{folder.name} {mistake.script.stem} {mistake.lines}{told}: {mistake.what}")
            print(f"    kind: {mistake.kind}")
            if not new:
                print("    - nothing")
            for finding in new:
                more = sorted(_beside(finding) - _lines(finding)) or ""
                print(f"    {finding['severity']} {finding['misconception']} {sorted(_lines(finding))} {more}".rstrip())
    print(f"{total} mistakes, {near} with a finding of their own on the line, {beside} more with one that shows it")


def main(arguments: list[str] | None = None) -> int:
    """Runs one of the three commands."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    drawn = commands.add_parser("brief", help="prints the brief for one planter")
    drawn.add_argument("--seed", type=int, required=True, help="the number of the set")
    drawn.add_argument("--planter", required=True, help="a name: it goes into the dice")
    drawn.add_argument("--scripts", type=int, default=4)
    drawn.add_argument("--first", type=int, required=True, help="the number of the first script")
    drawn.add_argument("--folder", required=True, help="where the planter works")
    drawn.add_argument("--python", default=sys.executable)
    drawn.add_argument("--lookups", type=int, default=100)
    drawn.add_argument("--kinds", choices=tuple(DRAWN_FROM), default="wide", help="which list the dice draw from")
    drawn.add_argument("--reported", action="store_true", help="asks for mistakes that were reported, not for planted")
    drawn.add_argument("--usual", action="store_true", help="asks for each planted mistake as it is made most often")
    for name, what in (("audit", "audits a set without options"), ("score", "prints what was found")):
        command = commands.add_parser(name, help=what)
        command.add_argument("sets", nargs="+", type=Path)
        command.add_argument("--out", type=Path, required=True)
        if name == "audit":
            command.add_argument("--python", default=sys.executable)
            command.add_argument("--only", default="", help="only scripts with this in their names, as m or right")
    told = vars(parser.parse_args(arguments))
    run = {"brief": lambda **options: print(brief(**options)), "audit": audit, "score": score}[told.pop("command")]
    run(**told)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
