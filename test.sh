#!/usr/bin/env bash
# Runs every test that this machine can run; arguments go to pytest (e.g. ./test.sh -k lint).
# Installs what it needs into .work/ and builds the wheel first: see docs/architecture.md.
set -euo pipefail
cd "$(dirname "$0")"
python=$(python3 -m overlay.bootstrap)
exec "$python" -m pytest "$@"
