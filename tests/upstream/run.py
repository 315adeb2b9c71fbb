# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""vLLM's own Marlin tests against the installed wheel: outcomes as JSON, before against after.

    python tests/upstream/run.py --source .work/vllm --out patched.json [-- PYTEST-ARGUMENTS]
    PYTHONPATH=OFFICIAL python tests/upstream/run.py --source .work/vllm --out official.json
    python tests/upstream/run.py --compare official.json patched.json

The tests are taken unmodified from a vLLM source distribution (.tar.gz) or an unpacked one, and run
in a folder that holds nothing else of it, so that they import the installed vLLM; nothing is
installed. They need a GPU, pytest and tblib, and no download. `-- -n 8` runs eight at a time where
pytest-xdist is installed.

Exit codes: 0 done, or nothing that passed fails; 1 something that passed does not any more; 2 the
tests could not be run.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

FILES = [
    "tests/kernels/quantization/test_marlin_gemm.py",
    "tests/kernels/quantization/test_marlin_tile_padding.py",
    "tests/kernels/quantization/test_w4a16_kernel_selection.py",
    "tests/kernels/quantization/test_quantized_embedding.py",
    "tests/kernels/moe/test_moe.py",
    "tests/test_envs.py",
    "tests/test_scalartype.py",
]
# Of the experts' tests, Marlin's.
SELECT = "marlin or not test_moe"
TAKEN = ("tests/", "pyproject.toml")


def take_tests(source: Path, folder: Path) -> None:
    """Copy the tests, and the configuration they run with, from an sdist or a source tree."""
    if source.is_dir():
        shutil.copytree(source / "tests", folder / "tests")
        shutil.copy(source / "pyproject.toml", folder)
        return
    with tarfile.open(source) as archive:
        for member in archive:
            # Everything lies in one folder, vllm-VERSION/.
            member.name = member.name.partition("/")[2]
            if member.name.startswith(TAKEN):
                archive.extract(member, folder, filter="data")


def outcomes(report: Path) -> dict[str, str]:
    """Test -> passed, failed, error or skipped, from pytest's JUnit report."""
    found = {}
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        kinds = {child.tag for child in case}
        outcome = next(
            (
                word
                for tag, word in (("error", "error"), ("failure", "failed"), ("skipped", "skipped"))
                if tag in kinds
            ),
            "passed",
        )
        found[f"{case.get('classname')}::{case.get('name')}"] = outcome
    return found


def run(source: Path, pytest_args: list[str]) -> dict[str, str]:
    """Run the tests; raises RuntimeError if pytest gives no report."""
    with tempfile.TemporaryDirectory(prefix="upstream-tests-") as name:
        folder = Path(name)
        take_tests(source, folder)
        report = folder / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", SELECT]
        command += [f"--junitxml={report}", *pytest_args, *FILES]
        env = os.environ | {"HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1"}
        code = subprocess.run(command, cwd=folder, env=env).returncode
        if not report.is_file() or code not in (0, 1):
            raise RuntimeError(f"pytest ended with code {code}: see above")
        return outcomes(report)


def compare(before: Path, after: Path) -> int:
    """Print both counts and every test that passed before and does not after."""
    old, new = (json.loads(path.read_text()) for path in (before, after))
    for path, result in ((before, old), (after, new)):
        print(f"{path.name}: {result['counts']}")
    worse = [
        test
        for test, outcome in old["tests"].items()
        if outcome == "passed" and new["tests"].get(test) != "passed"
    ]
    for test in worse:
        print(f"passed before, {new['tests'].get(test, 'missing')} now: {test}")
    return 1 if worse else 0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--source", type=Path, help="vLLM's source distribution, or its folder")
    parser.add_argument("--out", type=Path, help="JSON file for the outcomes")
    parser.add_argument("--compare", type=Path, nargs=2, metavar=("BEFORE", "AFTER"))
    parser.add_argument("pytest_args", nargs="*", help="after --: arguments for pytest")
    args = parser.parse_args()
    if args.compare:
        return compare(*args.compare)
    if not args.source or not args.out:
        parser.error("give --source and --out, or --compare")
    try:
        tests = run(args.source, args.pytest_args)
    except (OSError, tarfile.TarError, RuntimeError) as e:
        print(f"error: {e}", file=sys.stderr)
        return 2
    counts = dict(sorted(Counter(tests.values()).items()))
    result = {"counts": counts, "tests": dict(sorted(tests.items()))}
    args.out.write_text(json.dumps(result, indent=1) + "\n")
    print(counts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
