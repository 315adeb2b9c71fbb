#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
# Builds the patched wheel into dist/; ./build.sh --help shows the options.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
command -v python3 >/dev/null || {
  echo "error: python3 is not on PATH: install Python 3.11 to 3.14" >&2
  exit 1
}
python=$(cd "$root" && python3 -m overlay.bootstrap)
# -P: not the `overlay` that may lie in the current folder, as it does in another checkout.
PYTHONPATH="$root" exec "$python" -P -m overlay.build "$@"
