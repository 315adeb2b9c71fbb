# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Registers, shared memory and spills of the ternary kernels, for every architecture.

    ./apply_patches.py apply
    python bench/kernel_resources.py --out kernel-resources.json

Compiles each CUDA source of csrc/quantization/ternary in the patched tree with the project's own
compiler, one at a time, and reads what ptxas reports. One row a source and architecture: the
number of kernels, the range of registers a thread, static shared memory, and the sums of spilled
and stack bytes, which are to be 0. Shared memory that is asked for at launch is not in it.

Any Python will do: the program goes on in the tool's own environment.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from overlay import bootstrap

    bootstrap.enter(__file__)

from bench.needs import need_folder
from overlay import archs as gpu
from overlay import compiler
from overlay.errors import OverlayError
from overlay.paths import ROOT, Workspace
from overlay.pin import load_pin

SOURCES = Path("csrc/quantization/ternary")
FLAGS = ["-std=c++20", "-O3", "--expt-relaxed-constexpr", "-Xptxas", "-v", "-cubin"]


def parse_report(text: str) -> list[dict[str, int]]:
    """Registers, shared, stack and spilled bytes of each kernel in what `ptxas -v` printed.

    A frame and its registers are reported one after the other, for each kernel; of a source
    that has none, nothing. Raises OverlayError when kernels are named but not understood.
    """
    kernels = []
    frame = r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads"
    for match in re.finditer(rf"{frame}\n[^\n]*Used (\d+) registers([^\n]*)", text):
        stack, stores, loads, registers = (int(match[i]) for i in range(1, 5))
        shared = re.search(r"(\d+) bytes smem", match[5])
        kernels.append(
            {
                "registers": registers,
                "shared": int(shared[1]) if shared else 0,
                "stack": stack,
                "spilled": stores + loads,
            }
        )
    if len(kernels) != text.count("Compiling entry function"):
        raise OverlayError("ptxas reports its kernels otherwise than this program reads them")
    return kernels


def summary(source: str, arch: str, kernels: list[dict[str, int]]) -> dict[str, object]:
    """One row of the table."""
    registers = [kernel["registers"] for kernel in kernels]
    return {
        "source": source,
        "arch": arch,
        "kernels": len(kernels),
        "registers_min": min(registers),
        "registers_max": max(registers),
        "static_shared": max(kernel["shared"] for kernel in kernels),
        "stack": sum(kernel["stack"] for kernel in kernels),
        "spilled": sum(kernel["spilled"] for kernel in kernels),
    }


def compile_report(tools: compiler.Toolchain, source: Path, include: Path, arch: str) -> str:
    """What ptxas says while `source` is compiled for `arch`. Raises OverlayError."""
    with tempfile.TemporaryDirectory() as folder:
        command: list[str | Path] = [tools.nvcc, "-ccbin", tools.cxx, f"-arch=sm_{arch}", *FLAGS]
        command += ["-I", include, source, "-o", Path(folder) / "out.cubin"]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise OverlayError(f"{source.name} does not compile for {arch}: {lines[0]}")
    return done.stderr + done.stdout


def table(rows: list[dict[str, object]]) -> str:
    """The rows as a Markdown table."""
    lines = [
        "| source | architecture | kernels | registers | static shared, bytes | stack | spilled |",
        "|---|---|---|---|---|---|---|",
    ]
    for r in rows:
        low, high = r["registers_min"], r["registers_max"]
        registers = f"{low}" if low == high else f"{low} to {high}"
        cells = [r["source"], r["arch"], r["kernels"], registers]
        cells += [r["static_shared"], r["stack"], r["spilled"]]
        lines.append("| " + " | ".join(str(cell) for cell in cells) + " |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--archs", default=" ".join(gpu.DEFAULT), help="(%(default)s)")
    parser.add_argument("--out", required=True, type=Path, help="JSON file for the rows")
    args = parser.parse_args()
    need_folder(parser, args.out)
    tree = Workspace(ROOT).tree
    sources = sorted((tree / SOURCES).glob("*.cu"))
    if not sources:
        print(f"error: no {SOURCES}/*.cu: run ./apply_patches.py apply first", file=sys.stderr)
        return 1
    rows = []
    try:
        tools = compiler.prepare(load_pin())
        for arch in gpu.parse(args.archs):
            number = arch.removesuffix("+PTX").replace(".", "")
            for source in sources:
                report = compile_report(tools, source, tree / "csrc", number)
                kernels = parse_report(report)
                if kernels:  # not in a source of plans alone
                    rows.append(summary(source.name, arch, kernels))
                args.out.write_text(json.dumps(rows, indent=1) + "\n")
    except OverlayError as fault:
        print(f"error: {fault}", file=sys.stderr)
        return fault.exit_code
    print(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
