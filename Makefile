# Sottovoce: one command each. `make` alone lists them.

PY = .venv/bin/python -P

# FILE reaches Python through the environment exactly as it was typed, dollar signs and quotes included:
# `value` keeps make from expanding it, and since no recipe names it, no shell reads it either.
override FILE := $(value FILE)
override STARTED_IN := $(value PWD)
export FILE STARTED_IN

.NOTPARALLEL:
.PHONY: help run test check format quality word-times subtitles virtual-mic torture mic-errors bench bench-ui bench-live bench-large bench-coreml screenshots package package-smoke notices clean ready-run ready-dev ready-bench ready-test ready-package

help: ## list what make can do
	@sed -n 's/^\([a-z-]*\):.*## /  make \1|/p' Makefile | while IFS='|' read -r name what; do printf '%-19s %s\n' "$$name" "$$what"; done

run: ready-run ## set up and open the window; FILE='a recording.mp3' adds it
	@$(PY) -m engine models starter
	@$(PY) packaging/run.py

test: ready-test ## set up and run all tests
	@$(PY) -m pytest

check: ready-dev ## run ruff, pyright and import-linter
	@failed=0; \
	$(PY) -m ruff check || failed=1; \
	$(PY) -m ruff format --check || failed=1; \
	$(PY) -m pyright || failed=1; \
	$(PY) -c 'from importlinter.cli import lint_imports_command as lint; lint()' || failed=1; \
	exit $$failed

quality: ready-dev ## print error rates by language, and what holds for every odd file
	@.venv/bin/python tests/quality

word-times: ready-test ## print how far word times are from forced alignment, and from words at known places
	@.venv/bin/python tests/quality/word_times.py $(ARGS)

bench: ready-bench ## speed, errors and memory beside other engines, into docs/bench/ (ARGS=--memory: two hours too)
	@.venv/bin/python tests/quality/bench.py $(ARGS)

bench-ui: ready-test ## time the window: first paint, longest slot
	@$(PY) tests/measure/bench_ui.py

subtitles: ready-dev ## how well the cues of all recordings keep to the rules, and how close to the speech they begin
	@.venv/bin/python tests/quality/subtitles.py $(ARGS)

virtual-mic: ready-test ## hold a microphone without a sound card until Ctrl-C; FILE='talk.wav' is played into it
	@$(PY) tests/virtual_mic.py

torture: ready-test ## kill window, recorder, worker and microphone 50 times each while they record, and record an hour (25 minutes)
	@SOTTOVOCE_KILLS='200' $(PY) -m pytest -q tests/torture

bench-live: ready-test ## how late words are on the screen, into docs/bench/ (ARGS='--backend whispercpp', '--slower 5')
	@PYTHONPATH='$(CURDIR)' .venv/bin/python tests/quality/bench_live.py $(ARGS)

mic-errors: ready-test ## errors of all recordings through the virtual microphone, beside those from the disk (15 minutes)
	@PYTHONPATH='$(CURDIR)' .venv/bin/python tests/quality/through_microphone.py $(ARGS)

bench-large: ready-dev ## build and run a model of large-v3's size: sizes, seconds, memory; ARGS='--precision fp32'
	@$(PY) tests/measure/large_model.py $(ARGS)

bench-coreml: ready-dev ## build encoders for Core ML, of large-v3's size too, and compare them; ARGS=--large-proof
	@$(PY) tests/measure/coreml_build.py $(ARGS)

screenshots: ready-test ## write pictures of the window to build/screenshots/
	@$(PY) tests/measure/screenshots.py

package: ready-package ## build the program that people download, into dist/
	@.venv/bin/python packaging/build.py

package-smoke: ready-package ## install what `make package` built as a stranger, and use it
	@$(PY) -m pytest -p no:cacheprovider tests/e2e/package_smoke.py

notices: ready-package ## write the licences of all that the program carries to build/package/about/licences.txt
	@.venv/bin/python packaging/notices.py

format: ready-dev ## write the code as ruff would
	@$(PY) -m ruff format
	@$(PY) -m ruff check --fix

clean: ## remove what was made here, .venv included; models and transcripts stay
	rm -rf .venv build dist *.egg-info .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find app engine packaging resources tests -name __pycache__ -prune -exec rm -rf {} +

ready-run:
	@sh packaging/linux/system_libraries.sh run
	@sh packaging/make_venv.sh run

ready-dev:
	@sh packaging/make_venv.sh dev

ready-bench:
	@sh packaging/make_venv.sh bench

ready-test:
	@sh packaging/linux/system_libraries.sh test
	@sh packaging/make_venv.sh dev

ready-package:
	@sh packaging/linux/system_libraries.sh test
	@sh packaging/make_venv.sh package
