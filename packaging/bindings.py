"""Packages of the bindings: crates that verify, the Go module as a proxy has it, Zig's archive."""

import os
import shutil
import subprocess
import tempfile
import time
import zipfile
from pathlib import Path

from tree import ROOT, sha256, time_s

RELEASES = "https://github.com/kernelmill/kernelmill/releases/download"
GO_MODULE = "github.com/kernelmill/kernelmill/bindings/go"


def tools() -> dict:
    """The toolchains by name, as scripts/toolchains.sh finds them."""
    done = subprocess.run([ROOT / "scripts/toolchains.sh"], capture_output=True, text=True,
                          check=True)
    return dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)


def pin_archives(archives: dict, workspace: Path) -> None:
    """Names each archive, with its checksum, in the crate that takes it for the feature bundled."""
    pin = workspace / "kernelmill-sys/bundled.txt"
    lines = [line for line in pin.read_text().splitlines(keepends=True) if line.startswith("#")]
    for machine, archive in archives.items():
        version = archive.name.split("-")[1]
        lines.append(f"{machine.system}-linux-gnu {sha256(archive.read_bytes())} "
                     f"{RELEASES}/v{version}/{archive.name}\n")
    pin.write_text("".join(lines))


def copy_workspace(folder: Path) -> None:
    """The tracked files of bindings/rust: what is packed is neither changed nor left over."""
    for file in tracked("bindings/rust"):
        place = folder / Path(file).relative_to("bindings/rust")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / file, place)


def make_crates(archives: dict, output: Path) -> list:
    """Cargo packs each crate, unpacks it elsewhere and builds it from what it holds and from this
    machine's archive of those that the crates pin, one for each architecture.
    """
    archive = next(path for machine, path in archives.items() if machine.is_here)
    cargo = tools().get("cargo")
    if not cargo:
        raise SystemExit("bindings: cargo is missing: run scripts/setup.sh")
    with tempfile.TemporaryDirectory() as name:
        workspace, built = Path(name) / "rust", Path(name) / "target"
        copy_workspace(workspace)
        pin_archives(archives, workspace)
        clean = {k: v for k, v in os.environ.items() if k != "KM_LIBRARY_DIR"}
        environment = {**clean, "CARGO_TARGET_DIR": str(built), "CARGO_INCREMENTAL": "0",
                       "KM_BUNDLED_ARCHIVE": str(archive.resolve()),
                       "SOURCE_DATE_EPOCH": str(time_s())}
        subprocess.run([workspace / "package_test.sh", cargo], cwd=workspace, env=environment,
                       check=True)
        made = []
        for crate in sorted(built.glob("package/*.crate")):
            made.append(Path(shutil.copyfile(crate, output / crate.name)))
        return made


def tracked(folder: str) -> list:
    done = subprocess.run(["git", "ls-files", "-z", "--", folder], cwd=ROOT, capture_output=True,
                          text=True, check=True)
    return sorted(filter(None, done.stdout.split("\0")))


def make_go_module(version: str, output: Path) -> list:
    """A folder that GOPROXY=file://.../go-proxy serves. Modules within the module are others."""
    folder = output / "go-proxy" / GO_MODULE / "@v"
    folder.mkdir(parents=True)
    name = f"v{version}"
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time_s()))
    (folder / "list").write_text(f"{name}\n")
    (folder / f"{name}.info").write_text(f'{{"Version": "{name}", "Time": "{stamp}"}}\n')
    shutil.copyfile(ROOT / "bindings/go/go.mod", folder / f"{name}.mod")
    files = tracked("bindings/go")
    nested = tuple(f"{Path(f).parent}/" for f in files
                   if f.endswith("/go.mod") and f != "bindings/go/go.mod")
    with zipfile.ZipFile(folder / f"{name}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            if nested and file.startswith(nested):
                continue
            inside = Path(file).relative_to("bindings/go").as_posix()
            header = zipfile.ZipInfo(f"{GO_MODULE}@{name}/{inside}", time.gmtime(time_s())[:6])
            header.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(header, (ROOT / file).read_bytes())
    return sorted(path for path in folder.iterdir())


def make_zig_archive(version: str, output: Path) -> list:
    """The archive, and beside it the hash that `zig fetch` prints and build.zig.zon names."""
    zig = tools().get("zig")
    if not zig:
        raise SystemExit("bindings: zig is missing: run scripts/setup.sh")
    path = output / f"kernelmill-zig-{version}.tar.gz"
    subprocess.run([ROOT / "bindings/zig/archive.py", path], check=True)
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "build.zig").write_text("")  # fetching needs a project
        done = subprocess.run([zig, "fetch", "--global-cache-dir", name, path.resolve()],
                              cwd=name, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"bindings: zig fetch {path}: {done.stderr}")
    hashed = path.with_name(path.name + ".hash")
    hashed.write_text(done.stdout)
    return [path, hashed]
