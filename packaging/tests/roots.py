"""Roots of other versions of Debian, and the recipes that run in them.

A root is made once, by debootstrap, below build/roots. Each test works on a copy.
"""

import os
import shutil
import subprocess
import unittest
from pathlib import Path

from packages import ROOT, Case

ROOTS = ROOT / "build/roots"
MIRROR = os.environ.get("KM_DEBIAN_MIRROR", "http://deb.debian.org/debian")
INCLUDED = "libcmocka0,libopenblas0-pthread,python3"  # python3-minimal has no ctypes
# Debian's own rules are looked at by the lintian of a root of its own.
NAMED = {"lintian": ("bookworm", "lintian")}
# Debian's package of certificates would replace a file in its own place.
CERTIFICATES = "/etc/pip-certificates.pem"
COMPILERS = ("cc", "gcc", "clang", "ld")


def make_root(name: str) -> Path:
    root = ROOTS / name
    release, included = NAMED.get(name, (name, INCLUDED))
    stamp, wanted = root / "complete", f"{release} {included}\n"
    if stamp.exists() and stamp.read_text() == wanted:
        return root
    shutil.rmtree(root, ignore_errors=True)
    ROOTS.mkdir(parents=True, exist_ok=True)
    subprocess.run(["debootstrap", "--variant=minbase", f"--include={included}", release, root,
                    MIRROR], check=True, stdout=subprocess.DEVNULL)
    stamp.write_text(wanted)
    return root


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
        subprocess.run(["mount", "-t", "proc", "proc", self.path / "proc"], check=True)
        subprocess.run(["mount", "--bind", "/dev", self.path / "dev"], check=True)
        files = {"/etc/resolv.conf": "/etc/resolv.conf", "/etc/pip.conf": "/etc/pip.conf",
                 os.environ.get("PIP_CERT", ""): CERTIFICATES}
        for file, place in files.items():
            if file and Path(file).is_file():
                shutil.copyfile(file, self.path / place.lstrip("/"))

    def close(self):
        for name in ("dev", "proc"):
            subprocess.run(["umount", self.path / name], check=True)

    def run(self, *words, **settings):
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C",
                       "KM_CACHE_DIR": "off", "DEBIAN_FRONTEND": "noninteractive",
                       **network_settings(), **settings}
        return subprocess.run(["chroot", self.path, *[str(word) for word in words]], text=True,
                              env=environment, capture_output=True, check=False)


@unittest.skipUnless(os.geteuid() == 0 and shutil.which("debootstrap"),
                     "needs root and debootstrap: scripts/setup.sh dist")
class RootCase(Case):
    """A test in copies of roots."""

    def root(self, name: str) -> Root:
        root = Root(name, self.folder)
        self.addCleanup(root.close)
        return root

    def good(self, root: Root, *words, **settings) -> str:
        done = root.run(*words, **settings)
        self.assertEqual(done.returncode, 0, f"{words}\n{done.stdout}{done.stderr}")
        return done.stdout
