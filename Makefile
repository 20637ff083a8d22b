# On a fresh copy, with nothing but Python and make:
#   make lab     open the course in JupyterLab
# >>> author (`course release` leaves out what stands between these marks)
#   make test    everything that is checked before a change is accepted
#   make grading set up what `course grade` needs
# <<< author
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
COURSE := $(VENV)/bin/course
# >>> author
# nbval needs the cells of one notebook in one worker, in order: hence loadfile. Two workers suit two cores; unit tests
# often wait for a browser, a process or a limit, so a third finds room.
PARALLEL := -n 2 --dist loadfile
UNIT := -n 3 --dist loadfile
SOLVED := $(wildcard solutions/*.ipynb)
UNSOLVED := $(wildcard notebooks/*.ipynb)
# <<< author
# Arguments for `course lab`, for instance: make lab ARGS="--no-browser --port 9000"
ARGS ?=
# The build of torch that is downloaded where there is none. On Linux pip's own choice brings CUDA with it, so a
# machine without an NVIDIA GPU takes the CPU build; elsewhere pip's choice is right. TORCH=cpu or cuda decides.
TORCH ?= $(shell if [ "$$(uname -s)" != Linux ]; then echo default; elif nvidia-smi -L >/dev/null 2>&1; then echo cuda; else echo cpu; fi)
# Where the CPU builds lie, uv knows. Where it cannot get them, pip takes what the package index has.
SIZE_cpu := the CPU build, about 200 MB (TORCH=cuda takes the one for NVIDIA GPUs)
SIZE_cuda := the build for NVIDIA GPUs, 2 to 3 GB with CUDA (TORCH=cpu takes the small one)
SIZE_default := the build for this system, about 100 MB
INSTALL := $(PY) -m pip install --disable-pip-version-check -c constraints.txt
BY_PIP := $(INSTALL) torch
UV := UV_HTTP_RETRIES=1 $(PY) -m uv pip install --python $(PY)
BY_UV := $(INSTALL) --quiet uv && $(UV) --torch-backend cpu -c constraints.txt torch
UNREACHED := == PyTorch's CPU builds cannot be reached: torch comes from your package index, up to 3 GB where it brings CUDA
GET_cpu := { $(BY_UV); } || { echo "$(UNREACHED)"; $(BY_PIP); }
GET_cuda := $(BY_PIP)
GET_default := $(BY_PIP)

.DEFAULT_GOAL := help
.PHONY: help lab clean

help:
	@echo "make lab     set up .venv and open the notebooks in JupyterLab (ARGS=\"--no-browser --port N\")"
# >>> author
	@echo "make grading set up .venv for instructors: .venv/bin/course grade"
	@echo "make test    set up .venv and run every check (PART=all: all that takes turns, not the seventh of the day; HEAVY=all: heavy tests whatever time is over)"
# <<< author
	@echo "make clean   remove .venv and caches; workbook/, your work, stays"
	@echo "TORCH=cpu or TORCH=cuda chooses the build of torch; without it, cuda where there is an NVIDIA GPU"
	@echo "PYTHON=python3.12 chooses the Python that .venv is made with (3.10 or newer)"

lab: $(VENV)/lab.stamp
	@$(COURSE) lab $(ARGS)

$(PY):
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.10 or newer is needed, this is " + sys.version.split()[0] + ": make PYTHON=python3.12 ..." if sys.version_info < (3, 10) else 0)'
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

# Set-up runs again only when one of these two files changed. Torch comes first and alone, so that its
# large download fails or succeeds by itself; one that is there already is never replaced, and so its pin
# is left out of the second step. Where the first one brought uv, it takes the second one, too, in a quarter of pip's time.
comma := ,
define SET_UP
	@echo "== set up $(VENV) for $(1)"
	@$(PY) -c 'import torch' 2>/dev/null || { \
		echo "== download torch: $(or $(SIZE_$(TORCH)),$(error TORCH=$(TORCH): say cpu or cuda))" && \
		$(GET_$(TORCH)); }
	@sed '/^torch==/d' constraints.txt > $(VENV)/constraints.txt
	@{ $(PY) -c 'import uv' 2>/dev/null && $(UV) --quiet -c $(VENV)/constraints.txt -e '$(2)'; } || \
		$(PY) -m pip install --quiet --disable-pip-version-check -c $(VENV)/constraints.txt -e '$(2)'
endef

$(VENV)/lab.stamp: pyproject.toml constraints.txt | $(PY)
	$(call SET_UP,the lab,.[course])
	@touch $@

# >>> author
# The set-up for tests holds all that the lab and the grader need, so one that is newer will do for all.
$(VENV)/test.stamp: pyproject.toml constraints.txt | $(PY)
	$(call SET_UP,tests,.[dev])
	@touch $(VENV)/lab.stamp $(VENV)/grading.stamp $@

$(VENV)/grading.stamp: pyproject.toml constraints.txt | $(PY)
	$(call SET_UP,the grader,.[course$(comma)grading])
	@touch $(VENV)/lab.stamp $@

.PHONY: grading
grading: $(VENV)/grading.stamp
	@echo "== ready: $(COURSE) grade handed-in/ --out gradebook/"

# The learner's record is in COURSE_HOME: tests get folders of their own, removed afterwards.
.PHONY: test
test: $(VENV)/test.stamp
	@home=$$(mktemp -d) && trap 'rm -rf "$$home"' EXIT && COURSE_HOME="$$home" $(MAKE) --no-print-directory checks

# Heavy tests come last, a seventh of them, and only where all else took less than so many seconds. HEAVY=all: all.
BEGUN := $(shell date +%s)
ENOUGH := 780

# mypy keeps one core busy, so it runs beside what the lessons promise.
.PHONY: types promises
types:
	@echo "== mypy" && $(PY) -m mypy

# What takes long takes turns: a seventh of it, each day of the week its own. PART=all runs all of it, PART=2/7 one day's.
PART ?= $(shell date +%u)/7
WHICH := $(if $(filter all,$(PART)),,--part $(PART))
SAID := $(if $(WHICH),(part $(PART) of what takes turns$(comma) each day of the week its own; PART=all: all of it))

promises:
	@echo "== course build --check" && $(COURSE) build --check
	@echo "== course verify $(SAID)" && $(COURSE) verify $(WHICH)

# Two workers on two cores: with more than a thread of torch's each, they wait for one another most of the time.
.PHONY: checks
checks: export OMP_NUM_THREADS := 1
# Hundreds of processes start here: where the environment forbids to keep compiled modules, each would compile them anew.
checks: export PYTHONDONTWRITEBYTECODE :=
checks: export COURSE_PART := $(PART)
checks:
	@echo "== ruff check" && $(PY) -m ruff check .
	@echo "== ruff format --check" && $(PY) -m ruff format --check .
	@$(MAKE) --no-print-directory -j 2 types promises
	@echo "== pytest: unit tests $(SAID)" && $(PY) -m pytest -q -m "not heavy" $(UNIT)
	@test -n "$(SOLVED)" && test -n "$(UNSOLVED)" || { echo "no notebooks to run: \`course build\` makes them"; exit 1; }
	@echo "== nbval: solved notebooks, outputs compared" && COURSE_HOME="$$COURSE_HOME/solved" $(PY) -m pytest -q --nbval --nbval-current-env $(PARALLEL) $(SOLVED)
	@echo "== nbval: unsolved notebooks, run to the end" && COURSE_HOME="$$COURSE_HOME/unsolved" $(PY) -m pytest -q --nbval-lax --nbval-current-env $(PARALLEL) $(UNSOLVED)
	@used=$$(( $$(date +%s) - $(BEGUN) )); if [ "$(HEAVY)" = all ] || [ $$used -lt $(ENOUGH) ]; then \
		echo "== pytest: heavy tests $(if $(filter all,$(HEAVY)),,$(SAID))" && \
		$(if $(filter all,$(HEAVY)),COURSE_PART=all) $(PY) -m pytest -q -m heavy $(UNIT); \
	else echo "== pytest: heavy tests left out, since $$used of $(ENOUGH) seconds are over; make test HEAVY=all runs them"; fi
	@echo "== all checks passed"
# <<< author

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
