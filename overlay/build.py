# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""build.sh: from the pin and the series to one wheel, checked."""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import shutil
import signal
import sys
import tarfile
import time
import zipfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from overlay import archs as gpu
from overlay import (
    classify,
    compiler,
    contents,
    dist_metadata,
    elf,
    extension,
    full,
    process,
    sbom,
    tree,
    tryout,
    verify,
)
from overlay.classify import PathClass
from overlay.errors import OverlayError, system_fault
from overlay.extension import Extension
from overlay.fetch import fetch
from overlay.files import require_space, sha256, whole_file
from overlay.git import Git
from overlay.lock import alone
from overlay.paths import ROOT, Workspace, cache_dir
from overlay.pin import Artifact, Pin, load_pin
from overlay.tree import AppliedSeries
from overlay.wheel import WheelName, WheelWriter, digest, read_record

# What a first build takes: downloads, the compiler unpacked, the source, the wheel twice.
_SPACE_COLD = 2_500_000_000
_SPACE_WARM = 800_000_000

# Packages whose code ends up inside the extension.
_LINKED = ("nvidia-cuda-runtime", "nvidia-cuda-cccl")


def parse_arguments(argv: Sequence[str]) -> argparse.Namespace:
    """The command line of build.sh. Ends the process with code 2 when it is wrong."""
    parser = argparse.ArgumentParser(
        prog="build.sh",
        description="Builds the patched wheel into dist/: the official wheel of the pinned vLLM "
        "with the series laid over it and the ternary kernels compiled. CUDA's compiler comes from "
        "PyPI unless CUDA_HOME is set; CXX names another g++.",
    )
    parser.add_argument(
        "--source", metavar="DIR|URL",
        help="take the source from a git checkout, or clone it, at the pinned tag",
    )  # fmt: skip
    parser.add_argument(
        "--archs", default=" ".join(gpu.DEFAULT), metavar="LIST",
        help="GPU architectures to compile for, or 'native' for this machine's (%(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--jobs", type=int, default=len(os.sched_getaffinity(0)), metavar="N",
        help="compilers to run at once (%(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--cpu-tryout", type=Path, metavar="DIR",
        help="also make an environment in DIR in which the wheel serves on a CPU",
    )  # fmt: skip
    parser.add_argument(
        "--full", action="store_true",
        help="compile all of vLLM instead (hours; needs a CUDA toolkit, Rust and the network)",
    )  # fmt: skip
    parser.add_argument(
        "--dry-run", action="store_true", help="with --full: print its commands, run nothing"
    )
    args = parser.parse_args(argv)
    if args.jobs < 1:
        parser.error("--jobs: a number from 1 up is needed")
    if args.dry_run and not args.full:
        parser.error("--dry-run goes with --full")
    if args.full and args.cpu_tryout:
        parser.error("--cpu-tryout does not go with --full")
    return args


def main(argv: Sequence[str]) -> int:
    """Run build.sh; returns its exit code."""
    args = parse_arguments(argv)
    try:
        run(args, Workspace(ROOT))
    except OverlayError as fault:
        print(f"error: {fault}", file=sys.stderr)
        return fault.exit_code
    except OSError as fault:
        print(f"error: {system_fault(fault)}", file=sys.stderr)
        return 1
    except process.Terminated:
        print("error: terminated", file=sys.stderr)
        return 143
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        return 130
    return 0


def run(args: argparse.Namespace, workspace: Workspace) -> None:
    """Build what the command line asks for and print the summary. Raises OverlayError."""
    start = time.monotonic()
    archs = gpu.parse(args.archs)
    compiler.check_machine()
    if args.cpu_tryout:
        tryout.check_folder(args.cpu_tryout)
    tree.repair(workspace)
    pin = load_pin(workspace.pin)
    outcome = tree.apply_series(pin, workspace, source_of=args.source)
    for file, offset in outcome.offsets:
        print(f"{file}: {offset.path}: fits at line {offset.found}, not {offset.said}")
    series = outcome.series
    dist = workspace.root / "dist"
    if args.full:
        full.build(pin, workspace.tree, dist, workspace.work, archs, args.jobs, args.dry_run)
        return
    with alone(workspace.work / "build.lock", "build"):
        wheel, fresh = build_wheel(pin, series, workspace, archs, args.jobs)
    rows = [
        ("wheel", str(wheel.relative_to(workspace.root))),
        ("size", f"{wheel.stat().st_size / 1e6:.1f} MB"),
        ("patches", f"{len(series.patches)}, all of patches/series"),
        ("architectures", " ".join(archs)),
    ]
    others = sorted(one.name for one in dist.glob("vllm-*.whl") if one != wheel)
    if others:
        rows.insert(1, ("beside it", f"{' '.join(others)} (pip takes one: say which)"))
    if args.cpu_tryout:
        fresh |= tryout.make(args.cpu_tryout, wheel, pin)
        rows.append(("CPU try-out", tryout.command(args.cpu_tryout)))
    seconds = f"{time.monotonic() - start:.1f}"
    rows.append(("seconds", seconds if fresh else f"{seconds} (nothing had changed)"))
    print()
    for name, value in rows:
        print(f"{name:<14} {value}")


def build_wheel(
    pin: Pin, series: AppliedSeries, workspace: Workspace, archs: Sequence[str], jobs: int
) -> tuple[Path, bool]:
    """The wheel in dist/, and whether it was made now rather than found.

    Raises OverlayError, and leaves dist/ as it was, when it cannot be made or is not right.
    """
    classes = classify_series(series, workspace)
    _check_space(pin, workspace)
    toolchain = compiler.prepare(pin)
    key = key_of(pin, series, archs, toolchain)
    dist = workspace.root / "dist"
    stamp = workspace.work / "build" / "stamp.json"
    found = _unchanged(stamp, key, dist)
    if found:
        return found, False
    official = fetch(pin.wheel)
    for left in [*stamp.parent.glob(".*.part"), *dist.glob(".*.part")]:  # of a killed run
        left.unlink()
    built = None
    if Git(workspace.tree).blob(series.head, extension.DEFINITION) is not None:
        print(f"Compiling the extension for {' '.join(archs)} (minutes) ...", flush=True)
        sources = _sources(series.head, workspace)
        folder = workspace.work / "build" / "extension"
        built = extension.build(sources, toolchain, archs, jobs, folder)
    print("Assembling the wheel ...", flush=True)
    draft = assemble(pin, series, classes, built, official, workspace)
    print("Verifying it ...", flush=True)
    report = verify.verify(draft)
    if report.faults:
        draft.unlink()
        raise OverlayError(f"the wheel is not right: {'; '.join(report.faults)}")
    dist.mkdir(exist_ok=True)
    wheel = dist / draft.name
    there = _archs_of(wheel)
    if there not in ([], list(archs)):
        print(f"Replacing the wheel for {' '.join(there)} by one for {' '.join(archs)}", flush=True)
    with whole_file(wheel) as part:  # dist/ may be on another disk
        shutil.move(draft, part)
    for old in dist.glob(f"vllm-{pin.wheel_version}-*.whl"):
        if old != wheel:
            old.unlink()
    with whole_file(stamp) as part:
        part.write_text(json.dumps({"key": key, "file": wheel.name, **_identity(wheel)}))
    return wheel, True


def classify_series(series: AppliedSeries, workspace: Workspace) -> dict[str, PathClass]:
    """The class of every path the series changes. Raises OverlayError for one that is refused."""
    git = Git(workspace.tree)
    classes = {}
    for patch in series.patches:
        for path in patch.changed:
            before, after = git.blob(f"{patch.commit}^", path), git.blob(patch.commit, path)
            classes[path] = classify.classify(path, before, after)
            if classes[path] is PathClass.REFUSED:
                raise classify.refusal(patch.file, path)
    return classes


def assemble(
    pin: Pin,
    series: AppliedSeries,
    classes: dict[str, PathClass],
    built: Extension | None,
    official: Path,
    workspace: Workspace,
) -> Path:
    """Write the wheel into .work/build and return its path. Raises OverlayError."""
    old = WheelName.parse(official.name)
    with zipfile.ZipFile(official) as archive:
        info = {
            name: archive.read(old.dist_info + name)
            for name in ("METADATA", "WHEEL", "RECORD", "entry_points.txt")
        }
        version_module = archive.read("vllm/_version.py")
    record = read_record(info["RECORD"].decode())
    git = Git(workspace.tree)
    added: dict[str, bytes] = {}
    gone: list[str] = []
    for change in tree.changed_files(series.base, series.head, workspace):
        before, after = git.blob(series.base, change.path), git.blob(series.head, change.path)
        if classes[change.path] is PathClass.OVERLAY:
            recorded = record.get(change.path)
            if (digest(before) if before is not None else None) != (recorded and recorded.digest):
                raise OverlayError(
                    f"{change.path}: the official wheel's file is not the pinned source's"
                )
            if after is None:
                gone.append(change.path)
            else:
                added[change.path] = after
        elif change.path in classify.REQUIREMENTS:
            info["METADATA"] = dist_metadata.change_requirements(
                info["METADATA"], change.path, before or b"", after or b""
            )
        elif classes[change.path] is PathClass.METADATA:
            info["entry_points.txt"] = dist_metadata.change_entry_points(
                info["entry_points.txt"], before or b"", after or b""
            )
    if built:
        added[f"vllm/{built.path.name}"] = built.path.read_bytes()
    platform = elf.platform_tag([built.path] if built else [], old.platform)
    target = WheelName(old.name, pin.wheel_version, old.python, platform)
    added["vllm/_version.py"] = dist_metadata.set_module_version(
        version_module, pin.version, pin.wheel_version
    )
    manifest = contents.manifest(pin, series, built, added, gone)
    linked = {one.package: one.version for one in pin.compiler if one.package in _LINKED}
    info["METADATA"] = dist_metadata.set_version(info["METADATA"], pin.version, pin.wheel_version)
    info["WHEEL"] = dist_metadata.set_tag(info["WHEEL"], target.tag)
    info[contents.FILE] = contents.serialize(manifest)
    info[sbom.FILE] = contents.serialize(sbom.sbom(manifest, linked if built else {}))
    del info["RECORD"]
    added.update({old.dist_info + name: data for name, data in info.items()})
    return WheelWriter(official, target).write(workspace.work / "build", added, gone)


def _sources(commit: str, workspace: Workspace) -> dict[str, bytes]:
    """What the extension is compiled from, as it is in a commit: the work tree may move on."""
    packed = Git(workspace.tree).run("archive", "--format=tar", commit, *extension.STAGED)
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        return {
            member.name: stream.read()
            for member in archive
            if member.isfile() and (stream := archive.extractfile(member))
        }


def key_of(
    pin: Pin, series: AppliedSeries, archs: Sequence[str], toolchain: compiler.Toolchain
) -> str:
    """The hash of all the wheel's bytes depend on, this tool among them."""
    own = [*sorted(Path(__file__).parent.rglob("*.py")), extension.PROJECT]
    inputs = [
        json.dumps(asdict(pin), sort_keys=True),
        series.head,
        *(patch.sha256 for patch in series.patches),
        *archs,
        str(toolchain),
        os.environ.get("SOURCE_DATE_EPOCH", ""),
        *(sha256(path) for path in own),
    ]
    return hashlib.sha256("\0".join(inputs).encode()).hexdigest()


def _unchanged(stamp: Path, key: str, dist: Path) -> Path | None:
    """The wheel of an earlier run with the same inputs, when it still lies there untouched."""
    try:
        data = json.loads(stamp.read_text(encoding="utf-8"))
        wheel = dist / str(data.pop("file"))
        return wheel if data == {"key": key, **_identity(wheel)} else None
    except (OSError, ValueError, KeyError):
        return None


def _archs_of(wheel: Path) -> list[str]:
    """The architectures a built wheel has code for; none when there is no such wheel."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            data = archive.read(WheelName.parse(wheel.name).dist_info + contents.FILE)
        extension = contents.parse(data, wheel.name)["extension"]
    except (OSError, KeyError, zipfile.BadZipFile, OverlayError):
        return []
    return list(extension["architectures"]) if extension else []


def _identity(wheel: Path) -> dict[str, int]:
    status = wheel.stat()
    return {"size": status.st_size, "time": status.st_mtime_ns}


def _check_space(pin: Pin, workspace: Workspace) -> None:
    """Raise OverlayError when a disk that is written to has not enough room."""
    cached = _in_cache(pin.wheel) and all(_in_cache(package) for package in pin.compiler)
    needed = _SPACE_WARM if cached else _SPACE_COLD
    for folder in (workspace.root, cache_dir()):
        require_space(folder, needed)


def _in_cache(artifact: Artifact) -> bool:
    return (cache_dir() / artifact.sha256 / artifact.file).is_file()


if __name__ == "__main__":
    # Set by build.sh to find this package; the programs started from here are not to see it.
    os.environ.pop("PYTHONPATH", None)
    signal.signal(signal.SIGTERM, process.terminated)
    sys.exit(main(sys.argv[1:]))
