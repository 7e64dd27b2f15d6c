# `make demo`, `make test` and `make wheel` start from python3 and make alone.
PYTHON ?= python3
BIN := .venv/bin
unexport PYTHONDONTWRITEBYTECODE  # dozens of processes of one test run would compile the same modules

.PHONY: setup demo test test-models chaos golden size bench coverage reference notebooks wheel clean

setup: .venv/ready

.venv/ready: requirements.lock pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --requirement requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

demo: setup
	$(BIN)/questree demo

test: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	@for name in chromium chromium-browser google-chrome chrome no; do command -v $$name > /dev/null && break; \
		test $$name != no || echo "no browser found: the tests in one are skipped"; done
	$(BIN)/pytest -n 2 --dist loadfile

.venv/models: .venv/ready requirements-models.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-compile --requirement requirements-models.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-compile --no-deps --upgrade --target .venv/torchvision \
		torchvision==0.28.0  # beside the rest: its wheel is for CUDA, and transformers fails where it cannot be imported
	touch $@

test-models: .venv/models
	OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist loadfile tests/models

coverage: setup
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -n 2 --dist loadfile
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --skip-covered --sort=cover

chaos: setup
	PYTHONPATH=tests $(BIN)/python -m chaos $(CHAOS)

reference: setup
	$(BIN)/python docs/reference.py reference

golden: setup
	PYTHONPATH=tests $(BIN)/python -m golden.outputs

size: setup
	$(BIN)/python tests/worlds/sizes.py

bench: setup
	$(BIN)/python -m bench $(NAME)

notebooks: setup
	$(BIN)/python tests/worlds/notebooks.py

wheel: setup
	$(BIN)/hatchling build -d dist

clean:
	rm -rf .venv demo dist reference
