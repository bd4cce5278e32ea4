# The commands of this project. Each makes what it needs.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NODE ?= gpu-002
SOAK_FAKE ?= 300
SOAK_REAL ?= 20
VARIATIONS ?= 2
PROCESSES ?= 4

# Kept whatever the environment says: hundreds of processes read the same.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help run demo dist screenshots test scenarios check lint format typing contracts compiled migrations docs corpus page soak bench bench-cluster cluster \
	cluster-reboot cluster-crash cluster-hang fuzz lock clean

help:
	@sed -n 's/^\([a-z][a-z-]*\)[^:]*:.* ## /\1\t/p' Makefile | expand -t 20

# --- The virtual environment, from the hash-pinned locks -------------------

$(VENV)/.run: requirements/run.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; name one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing into $(VENV)" >&2
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/run.txt
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.run
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@touch $@

# --- Using it --------------------------------------------------------------

run: $(VENV)/.run  ## record the current cluster and serve the page
	@$(BIN)/recorder up

demo: $(VENV)/.run  ## play the recording of an incident and serve its page
	@$(BIN)/recorder demo

dist: $(VENV)/.dev  ## build what a release has, in dist: wheel, sdist, chart, SBOM and checksums
	@$(BIN)/python -m tests.cluster.binaries helm
	$(BIN)/python -m tests.deploy.dist

# --- Developing it ---------------------------------------------------------

check: lint typing contracts migrations docs  ## run ruff, mypy and the import contracts, compare schema and documentation

lint: $(VENV)/.dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check

typing: $(VENV)/.dev
	$(BIN)/mypy

contracts: $(VENV)/.dev
	$(BIN)/lint-imports

# Once, before several processes of `make test` each do it.
compiled: $(VENV)/.dev
	@$(BIN)/pytest --collect-only --quiet --quiet > /dev/null || true  # `make test` says what fails

migrations: $(VENV)/.dev
	@$(BIN)/python -m tests.support.postgres
	$(BIN)/pytest -q tests/store/test_catalog.py

docs: $(VENV)/.dev
	$(BIN)/pytest -q tests/docs/test_tables.py tests/docs/test_links.py

format: $(VENV)/.dev  ## format, and fix what can be fixed
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

test: $(VENV)/.dev  ## run all tests; by one process alone with PROCESSES=0
	@$(BIN)/python -m tests.cluster.binaries controlplane helm actionlint
	@$(BIN)/python -m tests.support.postgres
	@$(BIN)/python -m tests.support.chromium
	@$(BIN)/python -m tests.support.programs
	@$(BIN)/python -m tests.support.axe
	@$(BIN)/python -m tests.support.spark
	@$(BIN)/python -m tests.api.auditing
	$(BIN)/pytest --numprocesses $(PROCESSES) --no-loadscope-reorder --durations 50

scenarios: $(VENV)/.dev  ## run whole what `make test` takes a sample of
	@$(BIN)/python -m tests.slurm.releases
	RECORDER_TEST_VARIATIONS=all $(BIN)/pytest --numprocesses $(PROCESSES) --no-loadscope-reorder \
		tests/scenarios tests/explain/test_corpus.py tests/corpus tests/bench tests/archive tests/crash tests/faults tests/survival \
		tests/measuring tests/slurm tests/recording/test_slurm.py tests/cli/test_importing_bundles.py tests/tampering tests/fuzz tests/api/test_refusals.py

soak: $(VENV)/.dev  ## run long schedules of faults: SOAK_FAKE=1000 SOAK_REAL=50
	$(BIN)/python -m tests.faults --schedules $(SOAK_FAKE)
	$(BIN)/python -m tests.survival soak --schedules $(SOAK_REAL)

corpus: $(VENV)/.dev  ## check how well incidents are explained: VARIATIONS=20
	$(BIN)/python -m tests.corpus --variations $(VARIATIONS)

bench: $(VENV)/.dev  ## run the benchmarks
	$(BIN)/python -m bench

bench-cluster: $(VENV)/.dev  ## simulate a storm on 5,000 nodes: SIZE='--nodes 500 --pods 2000'
	@$(BIN)/python -m tests.cluster.binaries controlplane kwok
	$(BIN)/python -m bench.crowd $(SIZE)

fuzz: $(VENV)/.dev  ## feed a million mutated inputs
	nice $(BIN)/python -m tests.fuzz

page: $(VENV)/.dev  ## build what is served of the page, from api/page
	$(BIN)/python -m api.page.build

screenshots: $(VENV)/.dev  ## take the pictures of the page in the documentation
	@$(BIN)/python -m tests.support.chromium
	$(BIN)/python -m tests.docs.screenshots

# --- A real Kubernetes without containers ----------------------------------

cluster: $(VENV)/.dev  ## run a real Kubernetes without containers, until Ctrl-C
	$(BIN)/python -m tests.cluster.demo up

cluster-reboot cluster-crash cluster-hang: $(VENV)/.dev  ## reboot a node of it, or -crash, -hang: NODE=gpu-002
	$(BIN)/python -m tests.cluster.demo $(subst cluster-,,$@) $(NODE)

# --- Upkeep ----------------------------------------------------------------

UV_COMPILE = $(BIN)/uv pip compile --quiet --universal --generate-hashes \
	--no-header --no-annotate --no-emit-index-url --no-emit-find-links pyproject.toml

lock: $(VENV)/.dev  ## compile the lock files from pyproject.toml
	$(UV_COMPILE) --extra build --extra test --extra check --extra bucket --extra iceberg --extra mcp -o requirements/dev.txt
	$(UV_COMPILE) --extra build --extra test --extra bucket --extra iceberg --extra mcp -c requirements/dev.txt -o requirements/test.txt
	$(UV_COMPILE) --extra build -c requirements/dev.txt -o requirements/run.txt
	$(UV_COMPILE) --extra build --extra bucket --extra mcp -c requirements/dev.txt -o requirements/image.txt

clean:  ## remove the virtual environment and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
