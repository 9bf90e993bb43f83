#!/usr/bin/env python3
"""Tests of the sources as text: which folder may include which, and what no file may hold.

usage: layering_test.py SOURCE_FOLDER [unittest's arguments]
"""

import pathlib
import re
import subprocess
import sys
import unittest

SOURCE = pathlib.Path()

# Each folder of src/ and the folders that it may include, besides itself. Arrows point one way.
MAY_INCLUDE = {
    "base": "",
    "target": "base",
    "kir": "base",
    "emit/spirv": "base kir target",
    "emit/wgsl": "base kir target",
    "program": "base kir target",
    "ops": "base kir target program",
    "amdgpu/isa": "base",
    "graph": "base kir",
    "lowering": "base kir target program graph emit/spirv emit/wgsl",
    "device": "base kir target graph",
    "device/reference": "base kir target graph device",
    "device/vulkan": "base kir target graph device emit/spirv",
    "device/webgpu": "base kir target graph device emit/wgsl",
    "amdgpu/object": "base amdgpu/isa",
    "amdgpu/wave": "base amdgpu/isa amdgpu/object",
    "io": "base kir program ops",
    "api": "base kir target program ops graph lowering device device/reference device/vulkan device/webgpu io",
    "cli": "base target program graph lowering device io api amdgpu/isa amdgpu/object amdgpu/wave",
    "python": "base amdgpu/isa amdgpu/object amdgpu/wave",
    "web": "base target program graph lowering device device/reference device/webgpu io api",
}

# Headers: what an application that includes <wavegate/wavegate.h> gets to see. No backend is among it.
API_HEADERS_MAY_INCLUDE = "base kir target program ops graph lowering device io"
PUBLIC_HEADERS_MAY_INCLUDE = {
    "wavegate.h": "base kir program ops api",
    "amdgpu.h": "amdgpu/isa amdgpu/object amdgpu/wave",
    "vulkan.h": "device/vulkan",
    "webgpu.h": "device/webgpu",
}

# Other people's headers, by the start of their path, and the folders that may include them.
OTHERS_HEADERS = {
    "CLI/": "cli",
    "fmt/": "base",
    "nlohmann/": "io cli web amdgpu/object",
    "pybind11/": "python",
    "spirv/": "kir program emit/spirv device/vulkan",
    "vulkan/": "device/vulkan",
    "webgpu/": "device/webgpu",
    "yaml.h": "amdgpu/object",
    "zlib.h": "io amdgpu/object",
    "zstd.h": "amdgpu/object",
}
# Those that an installed header must not include, since a client need not have them.
NOT_IN_HEADERS = ("CLI/", "nlohmann/", "yaml.h", "zlib.h", "zstd.h")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
UNFINISHED = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|X" + r"XX)\b")
# Folders of one machine. /usr/local in the Makefile and the system's headers in cmake/ are everybody's.
MACHINE_PATH = re.compile(r"(?<![\w.$}/-])/(home|root|work|tmp|Users|mnt|opt|srv)/[\w.]")


def folder_of(include):
    """The folder of src/ that "wavegate/<folder>/<file>.h" lies in; passes belong to their kir, tables to their isa."""
    folder = include.removeprefix("wavegate/").rpartition("/")[0]
    return {"kir/passes": "kir", "amdgpu/isa/tables": "amdgpu/isa"}.get(folder, folder)


def include_faults(path, text):
    """What is wrong with the includes of a file of src/ or include/wavegate/, as "path: fault" lines."""
    is_public = path.startswith("include/")
    is_header = path.endswith(".h")
    folder = "" if is_public else folder_of(path.removeprefix("src/"))
    if is_public:
        allowed = PUBLIC_HEADERS_MAY_INCLUDE.get(path.rpartition("/")[2])
    elif folder == "api" and is_header:
        allowed = API_HEADERS_MAY_INCLUDE
    else:
        allowed = MAY_INCLUDE.get(folder)
    if allowed is None:
        return [f"{path}: not in the table of tests/layering_test.py"]
    faults = []
    for bracket, include in INCLUDE.findall(text):
        if bracket == '"':
            if not include.startswith("wavegate/"):
                faults.append(f'{path}: "{include}" is not spelled "wavegate/<folder>/<file>.h"')
            elif folder_of(include) not in [folder, *allowed.split()]:
                faults.append(f"{path}: includes {include}; {folder or path} may include: {allowed or 'nothing'}")
            continue
        for start, users in OTHERS_HEADERS.items():
            if include.startswith(start) and folder not in users.split():
                faults.append(f"{path}: includes <{include}>, which is for {users} alone")
        if is_header and folder != "cli" and include.startswith(NOT_IN_HEADERS):
            faults.append(f"{path}: a header that others include holds <{include}>")
    return faults


def text_faults(path, text):
    """What no file may hold, as "path:line: fault" lines."""
    faults = []
    for number, line in enumerate(text.splitlines(), 1):
        if UNFINISHED.search(line):
            faults.append(f"{path}:{number}: marked unfinished: {line.strip()}")
        if MACHINE_PATH.search(line):
            faults.append(f"{path}:{number}: a path of one machine: {line.strip()}")
    return faults


def sources(*folders):
    for folder in folders:
        for path in sorted((SOURCE / folder).rglob("*")):
            if path.suffix in (".h", ".cpp"):
                yield path.relative_to(SOURCE).as_posix(), path.read_text()


def tree():
    """All text files that belong to the project, as git knows them."""
    listing = subprocess.run(["git", "-c", f"safe.directory={SOURCE}", "-C", SOURCE, "ls-files", "-z"],
                             check=True, capture_output=True, text=True).stdout
    for name in filter(None, listing.split("\0")):
        path = SOURCE / name
        if not path.is_file() or "corpus" in path.parts or name == "tests/layering_test.py":
            continue
        try:
            yield name, path.read_text()
        except UnicodeDecodeError:
            pass


class Layering(unittest.TestCase):
    maxDiff = None

    def test_every_file_includes_what_the_table_allows(self):
        faults = [fault for path, text in sources("src", "include/wavegate") for fault in include_faults(path, text)]
        self.assertEqual(faults, [])

    def test_the_table_has_no_cycle(self):
        done = set()
        while len(done) < len(MAY_INCLUDE):
            ready = {folder for folder, allowed in MAY_INCLUDE.items() if set(allowed.split()) <= done} - done
            self.assertTrue(ready, f"a cycle among {sorted(set(MAY_INCLUDE) - done)}")
            done |= ready

    def test_the_table_names_the_folders_that_there_are(self):
        folders = {folder_of(path.removeprefix("src/")) for path, _ in sources("src")}
        self.assertEqual(set(MAY_INCLUDE), folders)

    def test_an_arrow_the_wrong_way_is_found(self):
        self.assertEqual(len(include_faults("src/kir/a.cpp", '#include "wavegate/graph/graph.h"\n')), 1)
        self.assertEqual(len(include_faults("src/device/a.h", '#include "wavegate/device/vulkan/device.h"\n')), 1)
        self.assertEqual(len(include_faults("src/kir/passes/a.h", '  #  include "wavegate/program/value.h"\n')), 1)

    def test_a_backend_in_a_public_header_is_found(self):
        line = '#include "wavegate/device/vulkan/device.h"\n'
        self.assertEqual(len(include_faults("src/api/a.h", line)), 1)
        self.assertEqual(include_faults("src/api/a.cpp", line), [])
        self.assertEqual(len(include_faults("include/wavegate/wavegate.h", line)), 1)

    def test_another_librarys_header_out_of_place_is_found(self):
        self.assertEqual(len(include_faults("src/api/a.cpp", "#include <vulkan/vulkan.h>\n")), 1)
        self.assertEqual(len(include_faults("src/io/a.h", "#include <nlohmann/json.hpp>\n")), 1)
        self.assertEqual(include_faults("src/io/a.cpp", "#include <nlohmann/json.hpp>\n"), [])

    def test_an_include_without_its_folder_is_found(self):
        self.assertEqual(len(include_faults("src/kir/a.cpp", '#include "op.h"\n')), 1)


class Text(unittest.TestCase):
    maxDiff = None

    def test_headers_start_with_pragma_once(self):
        headers = [(path, text) for path, text in sources("src", "include", "tests", "bench", "examples")
                   if path.endswith(".h")]
        self.assertGreater(len(headers), 50)
        self.assertEqual([path for path, text in headers if not text.startswith("#pragma once\n")], [])

    def test_nothing_is_marked_unfinished_and_no_path_is_of_one_machine(self):
        self.assertEqual([fault for path, text in tree() for fault in text_faults(path, text)], [])

    def test_such_marks_and_paths_are_found(self):
        self.assertEqual(len(text_faults("a", "// TO" + "DO: later\n")), 1)
        self.assertEqual(len(text_faults("a", 'read("/home/' + 'me/a.npy")\n')), 1)
        self.assertEqual(text_faults("a", "build/data/metis and https://host/home/page\n"), [])


if __name__ == "__main__":
    SOURCE = pathlib.Path(sys.argv[1]).resolve()
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
