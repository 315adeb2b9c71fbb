#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
# Runs every test that this machine can run; arguments go to pytest (e.g. ./test.sh -k lint).
# Installs what it needs under .work/ and builds the wheel first.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

case ${1-} in -h | --help)
  echo "usage: ./test.sh [ARGUMENT ...]    the arguments go to pytest, as in ./test.sh -k lint"
  exit
  ;;
esac

python=$(python3 -m overlay.bootstrap)
"$python" -m pip install --quiet --disable-pip-version-check --requirement requirements-test.txt
"$python" -m ruff check .
"$python" -m ruff format --check .
"$python" -m mypy

export TERNARY_TRYOUT=$PWD/.work/tryout
./build.sh --cpu-tryout "$TERNARY_TRYOUT"
# gguf reads that format independently of us.
"$TERNARY_TRYOUT/bin/python" -m pip install --quiet --disable-pip-version-check --constraint requirements-test.txt \
  gguf==0.19.0 hypothesis pytest

# The tool's tests run beside the tool; those of the patches, and of what reads checkpoints, where
# the patched vLLM is installed.
# pytest's exit code 5 means that a selection (-k, -m) chose none of a run's tests.
"$python" -m pytest tests/overlay tests/series tests/bench tests/e2e "$@" || [ $? -eq 5 ]
"$TERNARY_TRYOUT/bin/python" -m pytest tests/patches tests/tools "$@" || [ $? -eq 5 ]
