"""Tests of the commands that read AMD programs, as their users meet them.

usage: amd_test.py PATH_OF_WAVEGATE FOLDER_OF_COMPILED_KERNELS [unittest's arguments]
"""

import json
import os
import struct
import sys
import unittest
import zlib
from pathlib import Path

import cli_test
import jsonschema
from cli_test import CommandTest, run

KERNELS = Path()
SCHEMA = Path(__file__).parents[2] / "docs/shader-sidecar.schema.json"

KERNEL_KEYS = ["file", "place", "version", "target", "name", "wave", "sgprs", "vgprs", "agprs", "lds_bytes",
               "scratch_bytes", "max_workgroup", "required_workgroup", "code_bytes", "kernarg_bytes",
               "kernarg_alignment", "arguments"]


def hsaco(kernel, target="gfx1030.w32"):
    return KERNELS / f"{kernel}.{target}.hsaco"


def bundle(entries):
    """An offload bundle of (id, content) pairs, as clang's documentation describes it."""
    table = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(entries))
    place = len(table) + sum(24 + len(name) for name, _ in entries)
    contents = b""
    for name, content in entries:
        table += struct.pack("<QQQ", place + len(contents), len(content), len(name)) + name.encode()
        contents += content
    return table + contents


def packed(content):
    """A compressed bundle of version 2 with zlib's method."""
    stream = zlib.compress(content)
    return b"CCOB" + struct.pack("<HHIIQ", 2, 0, 24 + len(stream), len(content), 0) + stream


class AmdTest(CommandTest):
    def fat(self, *targets, wrap=lambda content: content):
        entries = [("host-x86_64-unknown-linux", b"")]
        entries += [(f"hipv4-amdgcn-amd-amdhsa--{target.split('.')[0]}", hsaco("saxpy", target).read_bytes())
                    for target in targets]
        return self.write("fat.bundle", wrap(bundle(entries)))


class ObjectsTest(AmdTest):
    def test_text_has_a_line_for_each_kernel_under_a_heading(self):
        lines = self.succeed("objects", hsaco("data"), hsaco("group_sum", "gfx900.w64")).splitlines()
        self.assertEqual(lines[0].split(), ["target", "wave", "sgprs", "vgprs", "lds", "scratch", "workgroup",
                                            "arguments", "code", "kernel"])
        rows = [line.split() for line in lines[1:]]
        self.assertEqual([(row[0], row[1], row[6], row[7], row[9]) for row in rows],
                         [("gfx1030", "32", "64x1x1", "2", "data"), ("gfx1030", "32", "64x1x1", "1", "primes_only"),
                          ("gfx900", "64", "256x1x1", "2", "group_sum")])
        self.assertEqual(rows[2][4], "1024")

    def test_json_has_exactly_these_members(self):
        kernels = json.loads(self.succeed("objects", hsaco("saxpy"), "--json"))
        self.assertEqual([list(kernel) for kernel in kernels], [KERNEL_KEYS])
        kernel = kernels[0]
        self.assertEqual((kernel["name"], kernel["target"], kernel["version"], kernel["wave"]),
                         ("saxpy", "gfx1030", 5, 32))
        self.assertEqual(kernel["required_workgroup"], [64, 1, 1])
        self.assertEqual([list(argument) for argument in kernel["arguments"]],
                         [["name", "type", "offset", "size", "kind"]] * 4)
        self.assertEqual([(argument["offset"], argument["kind"]) for argument in kernel["arguments"]],
                         [(0, "by_value"), (8, "global_buffer"), (16, "global_buffer"), (24, "by_value")])

    def test_a_target_chooses_among_a_bundle_s_objects(self):
        fat = self.fat("gfx900.w64", "gfx1030.w32", "gfx1100.w32")
        self.assertEqual(len(self.succeed("objects", fat).splitlines()), 4)
        kernels = json.loads(self.succeed("objects", fat, "--target", "gfx1030", "--json"))
        self.assertEqual([(kernel["target"], kernel["place"]) for kernel in kernels],
                         [("gfx1030", "bundle 0, hipv4-amdgcn-amd-amdhsa--gfx1030")])

    def test_a_compressed_bundle_lists_as_a_plain_one_does(self):
        plain = self.succeed("objects", self.fat("gfx900.w64", "gfx1030.w32"))
        self.assertEqual(self.succeed("objects", self.fat("gfx900.w64", "gfx1030.w32", wrap=packed)), plain)

    def test_a_part_of_a_name_chooses_kernels(self):
        self.assertEqual(len(self.succeed("objects", hsaco("data"), "--kernel", "only").splitlines()), 2)

    def test_nothing_that_matches_is_an_error_that_says_what_there_is(self):
        self.fail_with("objects", hsaco("data"), "--target", "gfx900", saying="gfx1030")
        self.fail_with("objects", hsaco("data"), "-k", "nothing", saying="2 kernels")

    def test_an_object_that_is_damaged_is_named_and_the_others_are_listed(self):
        good = hsaco("saxpy").read_bytes()
        fat = self.write("fat.bundle", bundle([("hip-amdgcn-amd-amdhsa--gfx900", good[:1000]),
                                               ("hip-amdgcn-amd-amdhsa--gfx1030", good)]))
        result = run("objects", fat)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"\Awavegate: invalid input: .*fat.bundle: bundle 0, .*gfx900: .*cut off")
        self.assertEqual(len(result.stdout.splitlines()), 2)

    def raw_shader(self, **changes):
        """A shader of two words, and its sidecar, which the schema accepts."""
        sidecar = {"target": "gfx1030", "pgm_rsrc1": "0x00af0000", "pgm_rsrc2": 132, "num_thread": [8, 8, 1],
                   "wave32": True, "user_sgprs": [7, 8], **changes}
        jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(sidecar)
        self.write("blur.json", json.dumps(sidecar))
        return self.write("blur.bin", struct.pack("<II", 0xbf800000, 0xbf810000))

    def test_a_raw_shader_is_listed_by_its_sidecar(self):
        kernels = json.loads(self.succeed("objects", self.raw_shader(name="blur"), "--json"))
        self.assertEqual([(kernel["name"], kernel["target"], kernel["version"], kernel["required_workgroup"],
                           kernel["code_bytes"]) for kernel in kernels], [("blur", "gfx1030", 0, [8, 8, 1], 8)])

    def test_a_sidecar_that_is_wrong_is_named(self):
        self.fail_with("objects", self.raw_shader(num_thread=[1024, 8, 1]), saying='blur.json: "num_thread"')

    def test_what_is_no_amd_program_is_refused(self):
        self.fail_with("objects", self.matrix, saying="neither an AMD code object")
        self.fail_with("objects", self.folder, saying="is a folder")
        self.fail_with("objects", self.folder / "none", saying="cannot be opened")
        self.fail_with("objects", sys.executable, saying="holds no AMD code")

    def test_a_target_that_is_none_is_a_usage_error(self):
        self.fail_with("objects", hsaco("data"), "--target", "rdna2", code=2, saying="gfx1030")


if __name__ == "__main__":
    cli_test.WAVEGATE = os.path.abspath(sys.argv.pop(1))
    KERNELS = Path(sys.argv.pop(1)).resolve()
    unittest.main()
