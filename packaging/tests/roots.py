"""Roots of other versions of Debian, and the recipes that run in them.

A root is made once, by debootstrap, below build/roots. Each test works on a copy.
"""

import contextlib
import ctypes
import functools
import json
import os
import shutil
import subprocess
import unittest
from pathlib import Path

from packages import DIST, ROOT, Case
from recipes import docker_steps

ROOTS = ROOT / "build/roots"
MIRROR = os.environ.get("KM_DEBIAN_MIRROR", "http://deb.debian.org/debian")
INCLUDED = "libcmocka0,libopenblas0-pthread,python3"  # python3-minimal has no ctypes
# Debian's own rules are looked at by the lintian of a root of its own. apt brings it: debootstrap
# does not know that a package may stand for another one's name, as some of Perl's do.
NAMED = {"lintian": ("bookworm", "", "lintian")}
# Debian's package of certificates would replace a file in its own place.
CERTIFICATES = "/etc/pip-certificates.pem"
COMPILERS = ("cc", "gcc", "clang", "ld")


def make_root(name: str) -> Path:
    root = ROOTS / name
    release, included, installed = NAMED.get(name, (name, INCLUDED, ""))
    stamp = root / "complete"
    wanted = " ".join(word for word in (release, included, installed) if word) + "\n"
    if stamp.exists() and stamp.read_text() == wanted:
        return root
    shutil.rmtree(root, ignore_errors=True)
    ROOTS.mkdir(parents=True, exist_ok=True)
    options = ["--variant=minbase", *([f"--include={included}"] if included else [])]
    done = subprocess.run(["debootstrap", *options, release, root, MIRROR], check=False, text=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if done.returncode != 0:
        raise AssertionError(f"debootstrap {release}: {done.stderr}\n{log_of(root)}")
    if installed:
        with mounted(root):
            for words in (["update"], ["install", "-y", "--no-install-recommends", installed]):
                run_inside(root, "apt-get", *words).check_returncode()
    stamp.write_text(wanted)
    return root


def log_of(root: Path) -> str:
    """The end of what debootstrap has noted."""
    log = root / "debootstrap/debootstrap.log"
    return "\n".join(log.read_text().splitlines()[-20:]) if log.exists() else ""


@functools.cache
def keep_mounts_to_ourselves() -> None:
    """What this process mounts goes with it, however it ends: else whoever deletes the folders of a
    run that was ended would delete the machine's /dev."""
    new_namespace = 0x20000  # CLONE_NEWNS
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(new_namespace) != 0:
        raise OSError(ctypes.get_errno(), "unshare: no mounts of its own")
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)


def copy_network_files(root: Path) -> None:
    """This machine's way to registries."""
    files = {"/etc/resolv.conf": "/etc/resolv.conf", "/etc/pip.conf": "/etc/pip.conf",
             os.environ.get("PIP_CERT", ""): CERTIFICATES}
    for file, place in files.items():
        if file and Path(file).is_file():
            shutil.copyfile(file, root / place.lstrip("/"))


@contextlib.contextmanager
def mounted(root: Path):
    """The root with /proc, /dev and this machine's way to registries."""
    keep_mounts_to_ourselves()
    subprocess.run(["mount", "-t", "proc", "proc", root / "proc"], check=True)
    subprocess.run(["mount", "--bind", "/dev", root / "dev"], check=True)
    copy_network_files(root)
    try:
        yield
    finally:
        for name in ("dev", "proc"):
            subprocess.run(["umount", "--lazy", root / name], check=True)


def run_inside(root: Path, *words, **settings):
    return subprocess.run(["chroot", root, *[str(word) for word in words]], text=True,
                          env={**environment_inside(), **settings}, capture_output=True,
                          check=False)


def environment_inside() -> dict:
    """What programs of a root have: nothing of this machine's environment but
    network_settings()."""
    return {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C",
            "KM_CACHE_DIR": "off", "DEBIAN_FRONTEND": "noninteractive", **network_settings()}


def network_settings() -> dict:
    """How this machine reaches package registries; nothing else of its environment."""
    settings = {name: value for name, value in os.environ.items()
                if name.startswith("PIP_") or name.lower().endswith("_proxy")}
    if "PIP_CERT" in settings:
        settings["PIP_CERT"] = CERTIFICATES
    return settings


class Root:
    """A copy of a root with /proc and /dev, which goes with the object."""

    def __init__(self, name: str, folder: Path):
        self.path = folder / name
        subprocess.run(["cp", "-a", make_root(name), self.path], check=True)
        self.mounts = contextlib.ExitStack()
        self.mounts.enter_context(mounted(self.path))

    def close(self):
        self.mounts.close()

    def run(self, *words, **settings):
        return run_inside(self.path, *words, **settings)


@unittest.skipUnless(os.geteuid() == 0 and shutil.which("debootstrap"),
                     "needs root and debootstrap: scripts/setup.sh dist")
class RootCase(Case):
    """A test in copies of roots."""

    def root(self, name: str) -> Root:
        root = Root(name, self.folder)
        self.addCleanup(root.close)
        return root

    def follow_dockerfile(self, root, text: str) -> tuple:
        """Does in the root what a Dockerfile for Debian 12 says: its entry point, and the settings
        that its programs have."""
        settings, entry = {}, None
        for name, rest in docker_steps(text):
            if name == "FROM":
                self.assertEqual(rest, "debian:12")
            elif name == "COPY":
                pattern, place = rest.split()
                for path in DIST.glob(pattern):
                    shutil.copy(path, root.path / place.lstrip("/"))
            elif name == "ENV":
                settings.update([rest.split("=", 1)])
            elif name == "RUN":
                self.good(root, "sh", "-c", rest, **settings)
            else:
                self.assertEqual(name, "ENTRYPOINT")
                entry = json.loads(rest)
        return entry, settings

    def good(self, root, *words, **settings) -> str:
        done = root.run(*words, **settings)
        self.assertEqual(done.returncode, 0, f"{words}\n{done.stdout}{done.stderr}")
        return done.stdout
