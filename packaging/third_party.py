"""The licences of the libraries whose code is inside: the file THIRD_PARTY of every package.

Debian's copyright file of each part is the source. The texts that it only refers to, those of
/usr/share/common-licenses, follow once at the end, so that a package lacks nothing elsewhere.
"""

import re
from pathlib import Path

from machine import Machine
from sbom import PARTS

COMMON = Path("/usr/share/common-licenses")
RANDOM_DATA = Path(__file__).resolve().parents[1] / "dropin/curand/data/LICENSES.md"
RULE = "=" * 78 + "\n"
# Debian names these without a version, and means the newest.
NEWEST = {"GPL": "GPL-3", "LGPL": "LGPL-3", "GFDL": "GFDL-1.3"}
GLIBC = """\
Programs and libraries start with code of the GNU C Library (Copyright the Free Software
Foundation, Inc.; LGPL-2.1-or-later). Its authors give unlimited permission to link the compiled
form of that code with other programs, and to distribute those programs without any restriction
that comes from its use.
"""


def notice(package: str, machine: Machine) -> str:
    """The text of Debian's package on its own code."""
    path = machine.root / "usr/share/doc" / package / "copyright"
    if not path.exists():
        raise SystemExit(f"third_party: {path} is missing: a system that leaves documentation "
                         f"out cannot make packages; reinstall {package}")
    return path.read_text(encoding="utf-8")


def common_licences(notices: list) -> list:
    """The names of the licences that the notices refer to, each once."""
    named = set()
    for text in notices:
        named |= set(re.findall(rf"{COMMON}/([A-Z][A-Za-z0-9.-]*[A-Za-z0-9])", text))
    return sorted({NEWEST.get(name, name) for name in named})


def third_party(machine: Machine) -> str:
    titles = {}  # equal notices, as those of GCC's libraries, stand once
    for package, (name, licence) in PARTS.items():
        title = f"{name} {machine.debian_version(package)}: {licence}"
        titles.setdefault(notice(package, machine), []).append(title)
    text = ("Kernelmill's libraries and its command hold code of these projects, under these "
            "licences.\n\n")
    text += "".join(f"- {title}\n" for each in titles.values() for title in each)
    text += "- glibc's start files: LGPL-2.1-or-later with an exception for linking\n\n"
    for body, each in titles.items():
        text += RULE + "".join(f"{title}\n" for title in each) + RULE + f"\n{body}\n"
    text += RULE + "glibc's start files\n" + RULE + f"\n{GLIBC}\n"
    text += RULE + "Data of random numbers (libcurand)\n" + RULE
    text += "\n" + RANDOM_DATA.read_text(encoding="utf-8") + "\n"
    for name in common_licences(list(titles)):
        text += RULE + f"The text of {name}\n" + RULE
        text += "\n" + (COMMON / name).read_text(encoding="utf-8") + "\n"
    return text
