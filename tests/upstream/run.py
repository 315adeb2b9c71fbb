# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""vLLM's own Marlin tests against the installed wheel: outcomes, before against after.

    python tests/upstream/run.py --source .work/vllm --out patched.jsonl [-- PYTEST-ARGUMENTS]
    PYTHONPATH=OFFICIAL python tests/upstream/run.py --source .work/vllm --out official.jsonl
    python tests/upstream/run.py --compare official.jsonl patched.jsonl

The tests are taken unmodified from a vLLM source distribution (.tar.gz) or an unpacked one, and run
in a folder that holds nothing else of it, so that they import the installed vLLM; nothing is
installed. They need a GPU, pytest and tblib, and no download. `-- -n 8` runs eight at a time where
pytest-xdist is installed.

Outcomes are written as they come, a JSON line each. After a run that was cut, the same command with
--rest runs what is not in the file yet, and --compare says what is missing.

Exit codes: 0 done, or all that passed before passes; 1 something that passed does not any more;
2 the tests could not be run, or one of the two runs lacks some.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterable
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


def read(out: Path) -> tuple[dict[str, str], list[str]]:
    """Test -> outcome, and the tests that were to run but have none, of a file of outcomes."""
    tests: dict[str, str] = {}
    selected: dict[str, None] = {}
    for text in out.read_text().splitlines():
        line = json.loads(text)
        selected |= dict.fromkeys(line.get("selected", []))
        if "test" in line:
            tests[line["test"]] = line["outcome"]
    return tests, [test for test in selected if test not in tests]


def run(source: Path, out: Path, done: Iterable[str], pytest_args: list[str]) -> None:
    """Run the tests except `done`; raises RuntimeError if pytest cannot run them."""
    with tempfile.TemporaryDirectory(prefix="upstream-tests-") as name:
        folder = Path(name)
        take_tests(source, folder)
        leave_out = folder / "leave-out.txt"
        leave_out.write_text("\n".join(done))
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", SELECT]
        command += ["-p", "outcomes", "--outcomes", str(out.resolve())]
        command += ["--leave-out", str(leave_out), *pytest_args, *FILES]
        path = os.pathsep.join(filter(None, (str(Path(__file__).parent), os.getenv("PYTHONPATH"))))
        env = os.environ | {"HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "PYTHONPATH": path}
        code = subprocess.run(command, cwd=folder, env=env).returncode
        # 5: none was left to run
        if code not in (0, 1) and not (code == 5 and done):
            raise RuntimeError(f"pytest ended with code {code}: see above")


def summary(out: Path) -> str:
    """Counts of a file of outcomes on one line."""
    tests, missing = read(out)
    counts = dict(sorted(Counter(tests.values()).items()))
    return f"{out.name}: {counts}" + (f", {len(missing)} not run" if missing else "")


def compare(before: Path, after: Path) -> int:
    """Print both counts, every test that passed before and does not after, and those not run."""
    old, old_missing = read(before)
    new, new_missing = read(after)
    for path, tests in ((before, old), (after, new)):
        if not tests:
            raise RuntimeError(f"{path} holds no outcomes")
        print(summary(path))
    worse = [t for t, outcome in old.items() if outcome == "passed" and new.get(t, "") != "passed"]
    absent = {
        before.name: {*old_missing, *(t for t in new if t not in old)},
        after.name: {*new_missing, *(t for t in old if t not in new)},
    }
    failed = [test for test in worse if test in new]
    for test in failed:
        print(f"passed before, {new[test]} now: {test}")
    for name, tests in absent.items():
        for function, count in sorted(Counter(test.partition("[")[0] for test in tests).items()):
            print(f"not run in {name}: {count} of {function}")
    if failed:
        return 1
    return 2 if any(absent.values()) else 0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--source", type=Path, help="vLLM's source distribution, or its folder")
    parser.add_argument("--out", type=Path, help="file for the outcomes, JSON lines")
    parser.add_argument("--rest", action="store_true", help="run what is not in --out yet")
    parser.add_argument("--compare", type=Path, nargs=2, metavar=("BEFORE", "AFTER"))
    parser.add_argument("pytest_args", nargs="*", help="after --: arguments for pytest")
    args = parser.parse_args()
    try:
        if args.compare:
            return compare(*args.compare)
        if not args.source or not args.out:
            parser.error("give --source and --out, or --compare")
        if args.rest:
            done = list(read(args.out)[0])
        else:
            done = []
            args.out.write_text("")
        run(args.source, args.out, done, args.pytest_args)
        print(summary(args.out))
    except (OSError, ValueError, tarfile.TarError, RuntimeError) as e:
        print(f"error: {e}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
