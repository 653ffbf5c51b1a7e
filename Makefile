# The two commands of the README: `make demo` and `make test`. Each sets up what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PEERS := $(VENV)/.peers
BROWSER := $(VENV)/.browser
WHEEL := build/wheel

.PHONY: demo test lint format test-wheel test-peers test-page bench bench-page bench-attention bench-models bench-scale-out clean

demo: $(STAMP)
	$(BIN)/qkv demo

test: $(STAMP)
	$(BIN)/python -m pytest -n auto --dist worksteal

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# The sdist, the wheel that is made of it, and what a person has who installs that and nothing else.
test-wheel: $(STAMP)
	rm -rf $(WHEEL) && $(BIN)/python -m build --quiet --outdir $(WHEEL)/dist .
	$(PYTHON) -m venv $(WHEEL)/venv
	$(WHEEL)/venv/bin/python -m pip install --quiet --disable-pip-version-check $(WHEEL)/dist/*.whl
	cd $(WHEEL) && env -u PYTHONPATH venv/bin/qkv | grep -q 'One slip'
	cd $(WHEEL) && env -u PYTHONPATH venv/bin/qkv demo > demo.txt && grep -q 'Mistake: softmax down the columns' demo.txt && cat demo.txt

test-peers: $(PEERS)
	$(BIN)/python -m pytest -m peers tests

# The page in a browser, in both transports; what is not here and cannot be installed is skipped, and said.
test-page: $(BROWSER)
	$(BIN)/python -m pytest -m page -rs tests/page

bench-page: $(BROWSER)
	$(BIN)/python benchmarks/bench_page.py

bench: $(STAMP)
	-$(BIN)/python benchmarks/bench.py
	$(BIN)/python benchmarks/bench_laws.py --store
	$(BIN)/python benchmarks/bench_planted.py --store
	$(BIN)/python benchmarks/bench_grade.py

# Practice sheets of every kind and level: solved, graded, mistakes named. SHEETS=1000 takes a third of a day on two cores.
bench-exercises: $(STAMP)
	$(BIN)/python benchmarks/bench_exercises.py $(or $(SHEETS),10)

bench-attention: $(PEERS)
	$(BIN)/python benchmarks/bench_attention.py

bench-models: $(PEERS)
	$(BIN)/python benchmarks/bench_models.py

bench-scale-out: $(PEERS)
	$(BIN)/python benchmarks/bench_scale_out.py
	$(BIN)/python docs/scale_out.py

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test,lint]'
	touch $@

$(PEERS): $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[peers]'
	touch $@

$(BROWSER): $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[page,browser]'
	command -v chromium > /dev/null || if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; \
	  then apt-get -qq update && apt-get -qq install --yes --no-install-recommends chromium > /dev/null; \
	  else echo 'Chromium is not installed, and only root may install it with apt: tests in a browser are skipped.'; fi
	command -v npm > /dev/null || echo 'npm is not installed: the page without a server is not tested.'
	touch $@

.venv: $(STAMP)

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
