"""The bill of materials, SPDX 2.3 as JSON: what the packages hold, and of what it is made."""

import json
import time
import uuid
from pathlib import Path

from machine import Machine
from tree import Tree, sha256, time_s

# Debian's packages whose code is inside, and the licence of that code.
PARTS = {
    "llvm-19-dev": ("LLVM", "Apache-2.0 WITH LLVM-exception"),
    "zlib1g-dev": ("zlib", "Zlib"),
    "libzstd-dev": ("zstd", "BSD-3-Clause"),
    "liblz4-dev": ("lz4", "BSD-2-Clause"),
    "libxxhash-dev": ("xxHash", "BSD-2-Clause"),
    "libpng-dev": ("libpng", "libpng-2.0"),
    "libjpeg62-turbo-dev": ("libjpeg-turbo", "IJG AND BSD-3-Clause"),
    "libcli11-dev": ("CLI11", "BSD-3-Clause"),
    "nlohmann-json3-dev": ("nlohmann/json", "MIT"),
    "libeigen3-dev": ("Eigen", "MPL-2.0"),
    "libstdc++-12-dev": ("libstdc++", "GPL-3.0-or-later WITH GCC-exception-3.1"),
    "libgcc-12-dev": ("libgcc", "GPL-3.0-or-later WITH GCC-exception-3.1"),
}


def identifier(name: str) -> str:
    return "SPDXRef-" + "".join(c if c.isalnum() else "-" for c in name)


def part(package: str, machine: Machine) -> dict:
    name, licence = PARTS[package]
    version = machine.debian_version(package)
    return {"SPDXID": identifier(f"Package-{package}"), "name": name, "versionInfo": version,
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "licenseConcluded": licence, "licenseDeclared": licence,
            "copyrightText": "NOASSERTION", "supplier": "Organization: Debian",
            "externalRefs": [{
                "referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                "referenceLocator": f"pkg:deb/debian/{package}@{version}?arch={machine.debian}"}]}


def document(tree: Tree, version: str, machine: Machine) -> dict:
    files = [{"SPDXID": identifier(f"File-{path}"), "fileName": f"./{path}",
              "checksums": [{"algorithm": "SHA256", "checksumValue": sha256(entry.data)}],
              "licenseConcluded": "NOASSERTION", "copyrightText": "NOASSERTION"}
             for path, entry in sorted(tree.items()) if not entry.target]
    own = {"SPDXID": "SPDXRef-Kernelmill", "name": "kernelmill", "versionInfo": version,
           "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
           "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0",
           "copyrightText": "NOASSERTION"}
    parts = [part(package, machine) for package in PARTS]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-Kernelmill")]
    relations += [("SPDXRef-Kernelmill", "CONTAINS", file["SPDXID"]) for file in files]
    relations += [("SPDXRef-Kernelmill", "STATIC_LINK", each["SPDXID"]) for each in parts]
    identity = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(files, sort_keys=True))
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
            "name": f"kernelmill-{version}",
            "documentNamespace": f"https://github.com/kernelmill/kernelmill/spdx/{identity}",
            "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time_s())),
                             "creators": ["Tool: kernelmill-dist"]},
            "packages": [own, *parts], "files": files,
            "relationships": [{"spdxElementId": a, "relationshipType": kind,
                               "relatedSpdxElement": b} for a, kind, b in relations]}


def make_sbom(tree: Tree, version: str, machine: Machine, output: Path) -> Path:
    path = output / f"kernelmill-{version}-linux-{machine.system}.spdx.json"
    path.write_text(json.dumps(document(tree, version, machine), indent=1) + "\n")
    return path
