"""Tests of the commands that read AMD programs, as their users meet them.

usage: amd_test.py PATH_OF_WAVEGATE FOLDER_OF_COMPILED_KERNELS [unittest's arguments]
"""

import json
import os
import re
import struct
import subprocess
import sys
import time
import unittest
import zlib
from pathlib import Path

import command_testing
import jsonschema
from command_testing import CommandTest, npy, npy_values, run

KERNELS = Path()
SCHEMA = Path(__file__).parents[2] / "docs/shader-sidecar.schema.json"
LAUNCH_SCHEMA = Path(__file__).parents[2] / "docs/launch.schema.json"

KERNEL_KEYS = ["file", "place", "version", "target", "name", "wave", "sgprs", "vgprs", "agprs", "lds_bytes",
               "scratch_bytes", "max_workgroup", "required_workgroup", "code_bytes", "kernarg_bytes",
               "kernarg_alignment", "launch", "float_mode", "arguments"]


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
    def raw_shader(self, words=(0xbf800000, 0xbf810000), **changes):
        """A shader, and its sidecar, which the schema accepts."""
        sidecar = {"target": "gfx1030", "pgm_rsrc1": "0x00af0000", "pgm_rsrc2": 132, "num_thread": [8, 8, 1],
                   "wave32": True, "user_sgprs": [7, 8], **changes}
        jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(sidecar)
        self.write("blur.json", json.dumps(sidecar))
        return self.write("blur.bin", struct.pack(f"<{len(words)}I", *words))

    def libraries(self):
        """Debian's rocSPARSE and rocRAND. Skips the test without them."""
        folder = Path(os.environ.get("WAVEGATE_AMD_CORPORA", Path(__file__).parents[2] / "build/data/corpora"))
        paths = [folder / "librocsparse.so.0.1", folder / "librocrand.so.1.1"]
        if not all(path.is_file() for path in paths):
            self.skipTest("rocSPARSE and rocRAND are not here, so that this is not tested; run tools/fetch_corpora.sh")
        return paths

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

    def test_json_tells_what_registers_a_wave_starts_with(self):
        gfx9, gfx12 = (json.loads(self.succeed("objects", hsaco("saxpy", target), "--json"))[0]
                       for target in ("gfx900.w64", "gfx1200.w32"))
        self.assertEqual(gfx9["launch"], {
            "user_sgprs": 6, "user": {"private_segment_buffer": "s[0:3]", "kernarg_pointer": "s[4:5]"},
            "entry_skip": 0, "workgroup_id": ["s6", None, None], "scratch_offset": None, "work_item_ids": "separate",
            "work_item_dimensions": 1})
        self.assertEqual(gfx9["float_mode"], {
            "round_f32": "nearest even", "round_f16_f64": "nearest even", "denorm_f32": "keep",
            "denorm_f16_f64": "keep", "dx10_clamp": True, "ieee": True, "fp16_overflow": False})
        self.assertEqual(gfx12["launch"]["workgroup_id"], ["ttmp9", "ttmp7[15:0]", "ttmp7[31:16]"])
        self.assertEqual((gfx12["float_mode"]["dx10_clamp"], gfx12["float_mode"]["ieee"]), (None, None))

    def test_a_target_chooses_among_a_bundle_s_objects(self):
        fat = self.fat("gfx900.w64", "gfx1030.w32", "gfx1100.w32")
        self.assertEqual(len(self.succeed("objects", fat).splitlines()), 4)
        kernels = json.loads(self.succeed("objects", fat, "--target", "gfx1030", "--json"))
        self.assertEqual([(kernel["target"], kernel["place"]) for kernel in kernels],
                         [("gfx1030", "bundle 0, hipv4-amdgcn-amd-amdhsa--gfx1030")])

    def test_a_compressed_bundle_lists_as_a_plain_one_does(self):
        plain = self.succeed("objects", self.fat("gfx900.w64", "gfx1030.w32"))
        self.assertEqual(self.succeed("objects", self.fat("gfx900.w64", "gfx1030.w32", wrap=packed)), plain)

    def test_bundles_that_unpack_to_more_than_a_machine_holds_are_refused_at_once(self):
        def claiming(size):
            stream = zlib.compress(bytes(1000))
            return b"CCOB" + struct.pack("<HHQQQ", 3, 0, 32 + len(stream), size, 0) + stream
        self.fail_with("objects", self.write("bomb.bundle", claiming(3 << 30)), saying="more than the limit of 2147483648")
        self.fail_with("objects", self.write("bomb.bundle", claiming(1 << 60)), saying="unpack to more than 17179869184")

    def test_a_bundle_that_unpacks_to_more_than_it_says_is_refused(self):
        stream = zlib.compress(bytes(50_000_000))
        bomb = b"CCOB" + struct.pack("<HHIIQ", 2, 0, 24 + len(stream), 1000, 0) + stream
        self.fail_with("objects", self.write("bomb.bundle", bomb), saying="more than 1000 bytes; its header says 1000")

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

    def test_a_raw_shader_is_listed_by_its_sidecar(self):
        kernels = json.loads(self.succeed("objects", self.raw_shader(name="blur"), "--json"))
        self.assertEqual([(kernel["name"], kernel["target"], kernel["version"], kernel["required_workgroup"],
                           kernel["code_bytes"]) for kernel in kernels], [("blur", "gfx1030", 0, [8, 8, 1], 8)])

    def test_a_sidecar_that_is_wrong_is_named(self):
        self.fail_with("objects", self.raw_shader(num_thread=[1024, 8, 1]), saying='blur.json: "num_thread"')

    def test_the_libraries_of_debian_are_listed_whole(self):
        for library, count in zip(self.libraries(), (12591, 80)):
            kernels = json.loads(self.succeed("objects", library, "--target", "gfx1030", "--json"))
            self.assertEqual(len(kernels), count)
            self.assertEqual({kernel["wave"] for kernel in kernels}, {32})

    def test_what_is_no_amd_program_is_refused(self):
        self.fail_with("objects", self.matrix, saying="neither an AMD code object")
        self.fail_with("objects", self.folder, saying="is a folder")
        self.fail_with("objects", self.folder / "none", saying="cannot be opened")
        self.fail_with("objects", sys.executable, saying="holds no AMD code")

    def test_a_target_that_is_none_is_a_usage_error(self):
        self.fail_with("objects", hsaco("data"), "--target", "rdna2", code=2, saying="gfx1030")


class DisasmTest(AmdTest):
    def test_functions_stand_under_their_names_with_offsets(self):
        blocks = self.succeed("disasm", hsaco("data")).split("\n\n")
        self.assertEqual(blocks[0], f"// {hsaco('data')}: gfx1030")
        self.assertEqual([block.split()[0] for block in blocks[1:]], ["look_up:", "data:", "primes_only:"])
        self.assertRegex(blocks[1], r"\Alook_up:  // function, wave32, \d+ bytes at 0x")
        self.assertRegex(blocks[2], r"\Adata:  // kernel, wave32, ")
        for block in blocks[1:]:
            offsets = [int(offset, 16) for offset in re.findall(r"// ([0-9a-f]{4})$", block, re.MULTILINE)]
            self.assertEqual(offsets[0], 0)
            self.assertEqual(offsets, sorted(set(offsets)))
        self.assertRegex(blocks[3], r"\n    s_endpgm +// [0-9a-f]{4}\n\Z")

    def test_every_branch_leads_to_a_label_that_is_there(self):
        for target in ("gfx900.w64", "gfx1030.w32", "gfx1100.w32"):
            text = self.succeed("disasm", hsaco("group_sum", target))
            branches = re.findall(r"s_c?branch\w* (L[0-9a-f]+)", text)
            self.assertTrue(branches)
            self.assertEqual(set(branches), set(re.findall(r"(?m)^(L[0-9a-f]+):$", text)))

    def test_words_are_those_of_the_file(self):
        text = self.succeed("disasm", hsaco("saxpy"), "-k", "saxpy", "--words")
        words = [int(word, 16) for line in text.splitlines() if "// " in line
                 for word in line.partition("// ")[2].partition(":")[2].split() if re.fullmatch("[0-9A-F]{8}", word)]
        code = struct.pack(f"<{len(words)}I", *words)
        self.assertEqual(len(code), json.loads(self.succeed("objects", hsaco("saxpy"), "--json"))[0]["code_bytes"])
        self.assertIn(code, hsaco("saxpy").read_bytes())

    def test_a_raw_shader_is_disassembled_by_its_sidecar(self):
        lines = self.succeed("disasm", self.raw_shader()).splitlines()
        self.assertEqual([line.split("//")[0].strip() for line in lines[2:]], ["shader:", "s_nop 0", "s_endpgm"])

    def test_source_lines_stand_before_their_instructions(self):
        source = (Path(__file__).parents[1] / "amdgpu/kernels/group_sum.cl").read_text().splitlines()
        barrier = 1 + next(i for i, line in enumerate(source) if "s_barrier" in line)
        text = self.succeed("disasm", hsaco("group_sum", "gfx1030.w32_dwarf5"))
        self.assertRegex(text, rf"\n  // \S*group_sum.cl:{barrier}\n(?:    .*\n)*    s_barrier ")

    def test_words_that_are_no_instruction_are_shown_and_counted(self):
        result = run("disasm", self.raw_shader((0xbfffffff, 0xbf810000)))
        self.assertEqual(result.returncode, 0)
        self.assertIn("    .long 0xbfffffff", result.stdout)
        self.assertEqual(result.stderr, "wavegate: 1 words are no instructions, and are shown as .long\n")

    def test_a_kernel_that_there_is_not_is_an_error(self):
        self.fail_with("disasm", hsaco("data"), "-k", "nothing", saying='no kernel has a name with "nothing" in it')

    def test_a_target_without_a_decoder_is_refused_by_name(self):
        old = bytearray(hsaco("saxpy", "gfx900.w64").read_bytes())
        old[48] = 0x2a
        self.fail_with("disasm", self.write("old.hsaco", bytes(old)), saying='target "gfx803" has no decoder table')

    def test_a_reader_that_leaves_ends_the_command_quietly(self):
        result = subprocess.run(f"{command_testing.WAVEGATE} disasm {hsaco('data')} | true", shell=True,
                                stderr=subprocess.PIPE, text=True)
        self.assertEqual(result.stderr, "")


class EmulateTest(AmdTest):
    """y = a x + y over 100 elements in groups of 64, so that the last group is partial."""

    def setUp(self):
        super().setUp()
        self.x = self.write("x.npy", npy("f", [float(i) for i in range(100)]))
        self.y = self.write("y.npy", npy("f", [1.0] * 100))

    def saxpy(self, *more, a="f32:2", count="u32:100", target="gfx1030.w32", threads=100):
        return ("emulate", hsaco("saxpy", target), "-k", "saxpy", "--threads", threads, "--group", 64, "--arg", f"0={a}",
                "--arg", f"1=in:{self.x}", "--arg", f"2=inout:{self.y}", "--arg", f"3={count}", *more)

    def test_a_kernel_of_each_target_writes_what_it_computes(self):
        for target in ("gfx900.w64", "gfx942.w64", "gfx1030.w32", "gfx1030.w64", "gfx1100.w32", "gfx1200.w32"):
            self.y.write_bytes(npy("f", [1.0] * 100))
            self.succeed(*self.saxpy(target=target))
            self.assertEqual(npy_values(self.y)[1], [2.0 * i + 1 for i in range(100)], target)

    def test_waves_whose_arguments_are_preloaded_start_behind_the_code_of_older_launchers(self):
        kernel = json.loads(self.succeed("objects", hsaco("saxpy", "gfx942.w64_preloaded"), "--json"))[0]
        self.assertEqual(kernel["launch"]["entry_skip"], 256)
        self.succeed(*self.saxpy(target="gfx942.w64_preloaded"))
        self.assertEqual(npy_values(self.y)[1], [2.0 * i + 1 for i in range(100)])

    def test_private_arrays_lie_in_scratch(self):
        order = [(7 * i) % 300 for i in range(64 * 64)]
        self.write("order.npy", npy("i", order))
        sums = []
        for lane in range(64):
            kept = [lane * 1000 + i for i in range(256)]
            for i in range(64):
                kept[order[i * 64 + lane] & 255] += i
            total = 0
            for value in kept:
                total = (total * 3 + value) % 2**32
            sums.append(total)
        for target in ("gfx900.w64", "gfx942.w64", "gfx1030.w32", "gfx1030.w64", "gfx1100.w32", "gfx1200.w32"):
            self.succeed("emulate", hsaco("scratch", target), "-k", "scratch", "--threads", 64, "--group", 64,
                         "--arg", f"0=in:{self.folder / 'order.npy'}", "--arg",
                         f"1=out:{self.folder / target}.npy:i32[64]")
            got = npy_values(self.folder / f"{target}.npy")[1]
            self.assertEqual([value % 2**32 for value in got], sums, target)

    def unchanged(self, given, wanted):
        """A command that leaves a buffer as it is, and compares it."""
        job = {"buffers": {"x": f"in:{self.x}", "y": f"inout:{self.y}", "same": f"in:{given}"},
               "launches": [{"kernel": "saxpy", "threads": 64, "group": 64,
                             "args": {"0": "f32:0", "1": "buffer:x", "2": "buffer:y", "3": "u32:0"}}]}
        return ("emulate", hsaco("saxpy"), "--launch", self.write("unchanged.json", json.dumps(job)), "--expect",
                f"same={wanted}")

    def test_what_is_given_twice_or_has_no_meaning_is_refused(self):
        self.fail_with(*self.saxpy("--arg", "0=f32:3"), saying='argument "0" is given twice')

    def test_nothing_is_close_to_infinity(self):
        beyond = self.write("beyond.npy", npy("f", [float("inf")] * 100))
        result = run(*self.saxpy("--expect", f"2={beyond}", "--rtol", "0.5"))
        self.assertEqual(result.returncode, 1)

    def test_a_difference_from_what_is_expected_ends_with_one(self):
        right = self.write("right.npy", npy("f", [2.0 * i + 1 for i in range(100)]))
        self.succeed(*self.saxpy("--expect", f"2={right}"))
        self.y.write_bytes(npy("f", [1.0] * 100))
        close = self.write("close.npy", npy("f", [2.0 * i + 1.25 for i in range(100)]))
        result = run(*self.saxpy("--expect", f"2={close}"))
        self.assertEqual(result.returncode, 1)
        self.assertIn("differs from", result.stdout + result.stderr)
        self.y.write_bytes(npy("f", [1.0] * 100))
        self.succeed(*self.saxpy("--expect", f"2={close}", "--atol", "0.25"))

    def test_zeros_of_both_signs_and_all_nans_are_as_expected(self):
        for code in "fd":
            wanted = self.write("wanted.npy", npy(code, [-0.0, float("nan"), float("-inf"), 0.25]))
            given = self.write("given.npy", npy(code, [0.0, -float("nan"), float("-inf"), 0.5]))
            command = self.unchanged(given, wanted)
            result = run(*command)
            self.assertIn("in 1 of 4 elements, first in element 3: 0.5 instead of 0.25; by 0.25", result.stdout, code)
            self.succeed(*command, "--atol", "0.25")

    def test_integers_that_doubles_cannot_tell_apart_are_told_apart(self):
        wanted = self.write("wanted.npy", npy("q", [2**62, -2**63, 5]))
        given = self.write("given.npy", npy("q", [2**62 + 1, -2**63 + 1, 5]))
        self.assertIn("in 2 of 3 elements, first in element 0: 4611686018427387905 instead of 4611686018427387904; by 1 ",
                      run(*self.unchanged(given, wanted)).stdout)
        self.succeed(*self.unchanged(given, wanted), "--atol", "1")

    def test_an_access_beyond_a_buffer_is_a_finding(self):
        self.y.write_bytes(npy("f", [1.0] * 90))
        result = run(*self.saxpy())
        self.assertEqual(result.returncode, 1)
        self.assertIn("global_store", result.stdout + result.stderr)
        self.assertEqual(len(npy_values(self.y)[1]), 90)

    def test_a_kernel_that_runs_too_long_is_ended(self):
        self.fail_with(*self.saxpy("--max-instructions", 3), saying="3")

    def test_what_is_missing_or_wrong_is_named(self):
        self.fail_with("emulate", hsaco("saxpy"), "-k", "nothing", "--threads", 1, "--group", 1, saying='"nothing"')
        self.fail_with(*self.saxpy(a="f32:two"), saying="two")

    def test_launches_share_buffers(self):
        argument = {"0": "f32:2", "1": "buffer:x", "2": "buffer:y", "3": "u32:100"}
        launch = {"kernel": "saxpy", "threads": [100], "group": [64], "args": argument}
        job = {"buffers": {"x": f"in:{self.x}", "y": f"inout:{self.y}"}, "launches": [launch, launch]}
        jsonschema.Draft202012Validator(json.loads(LAUNCH_SCHEMA.read_text())).validate(job)
        self.succeed("emulate", hsaco("saxpy"), "--launch", self.write("job.json", json.dumps(job)))
        self.assertEqual(npy_values(self.y)[1], [4.0 * i + 1 for i in range(100)])


class LaunchFileTest(AmdTest):
    """add(x, y, n): y += x."""

    def setUp(self):
        super().setUp()
        self.write("x.npy", npy("f", [float(i) for i in range(8)]))
        self.y = self.write("y.npy", npy("f", [1.0] * 8))

    launch = {"kernel": "add", "threads": [8], "group": 8, "args": {"x": "buffer:x", "y": "buffer:y", "n": "u32:8"}}
    buffers = {"x": "in:x.npy", "y": "inout:y.npy"}

    def emulate(self, job):
        text = job if isinstance(job, str) else json.dumps(job)
        return "emulate", hsaco("arguments"), "--launch", self.write("job.json", text)

    def test_paths_are_relative_to_the_file(self):
        job = {"buffers": self.buffers, "launches": [self.launch, self.launch]}
        jsonschema.Draft202012Validator(json.loads(LAUNCH_SCHEMA.read_text())).validate(job)
        self.succeed(*self.emulate(job))
        self.assertEqual(npy_values(self.y)[1], [2.0 * i + 1 for i in range(8)])

    def test_keys_that_have_no_meaning_are_refused(self):
        self.fail_with(*self.emulate({"launches": [{**self.launch, "ldss": 1}]}),
                       saying='job.json: launches[0]: unknown key "ldss" (did you mean "lds"?)')
        self.fail_with(*self.emulate({"launches": [self.launch], "bufers": {}}), saying='unknown key "bufers"')

    def test_keys_that_occur_twice_are_refused(self):
        text = json.dumps({"buffers": self.buffers, "launches": [self.launch]})
        self.fail_with(*self.emulate(text.replace('"n": "u32:8"', '"n": "u32:8", "n": "u32:4"')),
                       saying='launches[0].args: the key "n" occurs twice')
        self.fail_with(*self.emulate(text.replace('"group": 8', '"group": 8, "group": 4')),
                       saying='launches[0]: the key "group" occurs twice')

    def test_what_is_wrong_is_named_by_its_place(self):
        for change, saying in (({"threads": []}, "launches[0].threads: has 0 sizes"),
                               ({"threads": [8, 0]}, "launches[0].threads[1]: is 0; expected a size in work-items"),
                               ({"lds": "x"}, "launches[0].lds: is a string"),
                               ({"args": {"n": 8}}, "launches[0].args.n: is a number; expected a string"),
                               ({"args": {"x": "in:x.npy"}}, 'belongs under "buffers"'),
                               ({"args": {"x": "buffer:z"}}, 'there is no buffer "z"')):
            self.fail_with(*self.emulate({"buffers": self.buffers, "launches": [{**self.launch, **change}]}),
                           saying=saying)
        self.fail_with(*self.emulate({"launches": []}), saying="launches: has no launch")
        self.fail_with(*self.emulate("{"), saying="job.json: not JSON")

    def test_many_buffers_and_arguments_take_no_longer_than_few_each(self):
        many = 40_000
        buffers = {**self.buffers, **{f"b{i}": f"out:o{i}.npy:f32[1]" for i in range(many)}}
        buffers["again"] = f"out:o{many - 1}.npy:i8[1]"
        start = time.monotonic()
        self.fail_with(*self.emulate({"buffers": buffers, "launches": [self.launch]}),
                       saying=f'buffer "b{many - 1}" would be written over what "again" is written to')
        launch = {**self.launch, "args": {**self.launch["args"], **{f"a{i}": f"buffer:b{many - i - 1}" for i in range(many)}}}
        buffers = {**self.buffers, **{f"b{i}": "in:x.npy" for i in range(many)}}
        self.fail_with(*self.emulate({"buffers": buffers, "launches": [launch]}), saying='argument "a0"')
        self.assertLess(time.monotonic() - start, 60)

    def test_all_buffers_have_four_gib_together(self):
        self.fail_with(*self.emulate({"buffers": {**self.buffers, "z": "out:z.npy:u8[4294967233]"},
                                      "launches": [self.launch]}),
                       saying='"z" has 4294967233 bytes, but of the 4294967296 that all buffers of a job may have')
        self.fail_with(*self.emulate({"buffers": {"z": "out:z.npy:u8[4294967297]"}, "launches": [self.launch]}),
                       saying='"u8[4294967297]" has more than 4294967296 bytes')

    def test_nothing_runs_unless_every_launch_has_its_arguments(self):
        short = {**self.launch, "args": {"x": "buffer:x", "y": "buffer:y"}}
        self.fail_with(*self.emulate({"buffers": self.buffers, "launches": [self.launch, short]}),
                       saying='argument "n" (uint) is not given')
        self.assertEqual(npy_values(self.y)[1], [1.0] * 8)


class ArgumentsTest(AmdTest):
    """Kernels of tests/amdgpu/object/kernels/arguments.cl, whose object has names and types."""

    def setUp(self):
        super().setUp()
        self.x = self.write("x.npy", npy("f", [float(i) for i in range(8)]))
        self.y = self.write("y.npy", npy("f", [1.0] * 8))

    def kernel(self, name, *arguments, threads=8):
        options = [word for argument in arguments for word in ("--arg", argument)]
        return "emulate", hsaco("arguments"), "-k", name, "--threads", threads, "--group", threads, *options

    def add(self, x=None, y=None, n="u32:8", more=()):
        given = {"x": x or f"in:{self.x}", "y": y or f"inout:{self.y}", "n": n}
        return self.kernel("add", *(f"{name}={value}" for name, value in given.items() if value != "-"), *more)

    def vectors(self, *arguments):
        return self.kernel("vectors", *arguments, f"out=out:{self.folder / 'out.npy'}:f32[7]", threads=1)

    def test_vectors_are_lists_and_structures_are_bytes(self):
        triple = struct.pack("<ifhxx", 5, 6.5, -7)
        self.write("triple.bin", triple)
        for structure in (f"bytes:{triple.hex()}", f"file:{self.folder / 'triple.bin'}"):
            self.succeed(*self.vectors("v=f32:1,2,3,4", "w=i32:10,20,30", f"t={structure}"))
            self.assertEqual(npy_values(self.folder / "out.npy")[1], [1, 4, 10, 30, 5, 6.5, -7])

    def test_a_plain_number_has_the_type_that_the_object_tells(self):
        self.succeed(*self.add(n="8"))
        self.assertEqual(npy_values(self.y)[1], [1.0 + i for i in range(8)])
        self.succeed(*self.vectors("v=1.5,2,3,-.5", "w=0x10,20,-30", f"t=bytes:{bytes(12).hex()}"))
        self.assertEqual(npy_values(self.folder / "out.npy")[1][:4], [1.5, -0.5, 16, -30])
        self.fail_with(*self.add(n="-1"), saying='argument "n" (uint): "-1" is no number of type u32')
        self.fail_with(*self.add(n="1.5"), saying='"1.5" is no number of type u32')
        self.fail_with(*self.add(x="7"), saying='argument "x" (float*) takes a buffer')
        self.fail_with(*self.vectors("v=1,2,3,4", "w=1,2,3", "t=7"), saying="takes 12 bytes by value")

    def test_numbers_are_decimal_or_hexadecimal_and_fit(self):
        ok = {"i32:010,-0x10,-2147483648": (10, -16, -(1 << 31)), "i32:0xff,007,-0": (255, 7, 0)}
        for w, expected in ok.items():
            self.succeed(*self.vectors("v=f32:1,2,3,4", f"w={w}", f"t=bytes:{bytes(12).hex()}"))
            self.assertEqual(npy_values(self.folder / "out.npy")[1][2:4], [float(expected[0]), float(expected[2])], w)
        for number in ("--18446744073709551615", " 5", "5 ", "+5", "-+5", "- 5", "0x", "0x-5", "-", "5.", "2147483648",
                       "-2147483649", "18446744073709551616", "1_0", "0b1"):
            self.fail_with(*self.vectors(f"w=i32:{number},0,0"), saying=f'"{number}" is no number of type i32')
        for number in ("+1", " 1", "1 ", "0x10", "1e39", "-1e39", "3.4028236e38", "1e400", "--1", "1f", "in", "-"):
            self.fail_with(*self.vectors(f"v=f32:{number},0,0,0"), saying=f'"{number}" is no number of type f32')
        for kind, number in (("f64", "1e309"), ("f16", "65520"), ("f16", "-1e9"), ("f16", "1e300"), ("i8", "128"),
                             ("u64", "18446744073709551616"), ("u8", "-1"), ("bool", "2")):
            self.fail_with(*self.vectors(f"t={kind}:{number}"), saying=f'"{number}" is no number of type {kind}')

    def test_infinities_are_given_by_name_and_what_is_too_small_is_zero(self):
        for given, expected in (("inf", float("inf")), ("-inf", float("-inf")), ("1e-400", 0.0),
                                ("3.4028235e38", 3.4028234663852886e38), ("1e-45", 1.401298464324817e-45)):
            self.succeed(*self.vectors(f"v=f32:{given},0,0,0", "w=i32:0,0,0", f"t=bytes:{bytes(12).hex()}"))
            self.assertEqual(npy_values(self.folder / "out.npy")[1][0], expected, given)

    def test_halves_are_rounded_once(self):
        # Beyond the middle of two halves by less than a float tells, the middle itself, and the ends.
        for given, half in (("1.000488281251", 1.0009765625), ("1.00048828125", 1.0), ("-1.000488281251", -1.0009765625),
                            ("65519.999999999", 65504.0), ("2.98023223876953125e-8", 0.0),
                            ("2.980232238769532e-8", 2.0**-24), ("1e-300", 0.0), ("-inf", float("-inf"))):
            out = self.folder / "floats.npy"
            self.succeed(*self.kernel("numbers", "c=0", "u=0", "i=0", "l=0", f"h=f16:{given}", "f=0", "d=0",
                                      f"integers=out:{self.folder / 'integers.npy'}:i64[4]", f"floats=out:{out}:f64[3]",
                                      threads=1))
            self.assertEqual(npy_values(out)[1][0], half, given)

    def test_what_to_run_must_be_said(self):
        for given in ((), ("-k", "add"), ("-k", "add", "--threads", 8), ("--threads", 8, "--group", 8)):
            self.fail_with("emulate", hsaco("arguments"), *given, saying="what to run is missing: -k KERNEL, --threads")
        self.fail_with("emulate", hsaco("arguments"), "--launch", "x.json", "--arg", "n=1", code=2, saying="excludes")

    def test_an_object_of_version_2_tells_its_arguments_in_yaml(self):
        old = Path(__file__).parents[1] / "amdgpu/object/corpus/code_object/version_2"
        kernel = json.loads(self.succeed("objects", old, "--json"))[0]
        self.assertEqual((kernel["version"], kernel["max_workgroup"]), (2, 256))
        self.assertEqual([(argument["type"], argument["offset"], argument["size"], argument["kind"])
                          for argument in kernel["arguments"]],
                         [("float*", 0, 8, "global_buffer"), ("float*", 8, 8, "global_buffer"), ("int", 16, 4, "by_value")])
        self.succeed("emulate", old, "-k", "add", "--threads", 64, "--group", 64, "--arg", f"0=in:{self.x}",
                     "--arg", f"1=inout:{self.y}", "--arg", "2=8")
        self.assertEqual(npy_values(self.y)[1], [1.0 + i for i in range(8)])

    def test_of_a_kernel_that_tells_no_arguments_they_cannot_be_given(self):
        old = (Path(__file__).parents[1] / "amdgpu/object/corpus/code_object/version_2").read_bytes()
        note = old.index(b"---\nVersion") - 16
        self.assertEqual(struct.unpack_from("<I", old, note + 8)[0], 10)  # of the metadata
        bare = self.write("bare.hsaco", old[:note + 8] + struct.pack("<I", 99) + old[note + 12:])
        self.fail_with("emulate", bare, "-k", "add", "--threads", 8, "--group", 8, "--arg", "n=1",
                       saying='kernel "add": the object does not tell what arguments it takes')

    def test_bytes_of_another_number_are_refused(self):
        self.fail_with(*self.vectors("v=f32:1,2,3,4", "w=i32:1,2,3", "t=bytes:0011"),
                       saying='kernel "vectors": argument "t" (triple) has 12 bytes; "bytes:0011" has 2')
        self.fail_with(*self.vectors("v=f32:1,2,3,4", "w=i32:1,2,3", "t=u32:5"),
                       saying="takes 12 bytes by value: bytes:HEX")
        self.fail_with(*self.vectors("v=f32:1,2,3", "w=i32:1,2,3", "t=u32:5"),
                       saying='argument "v" (float4) takes f32:NUMBER,NUMBER,NUMBER,NUMBER, not "f32:1,2,3"')
        self.fail_with(*self.vectors("t=bytes:001"), saying='argument "t": "001" is no list of bytes')

    def test_an_argument_that_is_not_given_is_named(self):
        self.fail_with(*self.add(n="-"), saying='kernel "add": argument "n" (uint) is not given; it takes u32:NUMBER')
        self.fail_with(*self.add(y="-"), saying='argument "y" (float*) is not given; it takes a buffer')
        self.fail_with("emulate", hsaco("saxpy"), "-k", "saxpy", "--threads", 64, "--group", 64, "--arg", "0=f32:1",
                       saying="argument 1 (float*) is not given")

    def test_a_number_of_another_type_is_refused(self):
        self.fail_with(*self.add(n="f32:8"), saying='argument "n" (uint) takes u32:NUMBER, not "f32:8"')
        self.fail_with(*self.add(n="u64:8"), saying='takes u32:NUMBER, not "u64:8"')
        self.succeed(*self.add(n="i32:8"))

    def test_a_buffer_for_a_number_or_the_other_way_round_is_refused(self):
        self.fail_with(*self.add(n=f"in:{self.x}"), saying='argument "n" (uint) takes u32:NUMBER, not "in:')
        self.fail_with(*self.add(x="u64:4096"), saying='argument "x" (float*) takes a buffer: in:FILE.npy')
        self.fail_with(*self.kernel("counted", "out=lds:64"), saying='argument "out" (uint*) takes a buffer')

    def test_a_buffer_of_another_type_is_refused(self):
        doubles = self.write("d.npy", npy("d", [0.0] * 8))
        self.fail_with(*self.add(x=f"in:{doubles}"),
                       saying=f'argument "x" (float*) leads to f32, but "in:{doubles}" is an array of f64')
        integers = self.write("i.npy", npy("i", [0] * 8))
        self.fail_with(*self.add(x=f"in:{integers}"), saying="leads to f32")

    def test_null_is_a_pointer_to_nothing(self):
        out = self.folder / "out.npy"
        self.succeed(*self.kernel("null_or", "maybe=null", f"out=out:{out}:i32[1]", threads=1))
        self.assertEqual(npy_values(out)[1], [-1])

    def test_pointers_to_lds_take_their_bytes(self):
        out = self.write("o.npy", npy("i", list(range(8))))
        self.succeed(*self.kernel("reversed", "low=lds:32", "high=lds:32", f"x=inout:{out}"))
        self.assertEqual(npy_values(out)[1], [21, 18, 15, 12, 9, 6, 3, 0])

    def test_a_kind_of_argument_that_is_missing_is_unsupported_by_name(self):
        self.fail_with(*self.kernel("picture", "image=null", f"out=out:{self.folder / 'o.npy'}:i32[1]"),
                       saying='argument "image" (image2d_t) is of kind "image", which is not implemented')

    def test_an_argument_given_by_name_and_number_is_refused(self):
        self.fail_with(*self.add(more=("2=u32:4",)), saying='argument "n" (uint) is given twice, by name and by number')

    def test_two_arguments_may_share_a_buffer_by_its_name(self):
        self.succeed(*self.add(x=f"inout:{self.x}", y="buffer:x"))
        self.assertEqual(npy_values(self.x)[1], [2.0 * i for i in range(8)])

    def test_no_file_is_written_over_what_another_is_read_from_or_written_to(self):
        link = self.folder / "link.npy"
        link.symlink_to(self.y)
        out = self.folder / "new.npy"
        for call, saying in ((self.add(x=f"in:{self.y}"), 'what "x" is read from'),
                             (self.add(x=f"inout:{self.y}"), 'what "y" is written to'),
                             (self.add(x=f"in:{link}"), 'what "x" is read from'),
                             (self.add(x=f"out:{out}:f32[8]", y=f"out:{self.folder}/./new.npy:f32[8]"), "written to"),
                             ((*self.add(), "--expect", f"y={self.y}"), 'what is expected of "y"')):
            self.fail_with(*call, saying=saying)
        self.assertEqual(npy_values(self.y)[1], [1.0] * 8)
        code = self.write("code.hsaco", hsaco("arguments").read_bytes())
        command = list(self.add(y=f"out:{code}:f32[8]"))
        command[1] = code
        self.fail_with(*command, saying="code.hsaco, which is read")
        self.assertEqual(code.read_bytes(), hsaco("arguments").read_bytes())

    def test_one_file_may_be_read_twice(self):
        self.succeed(*self.add(x=f"in:{self.x}", y=f"in:{self.x}", n="u32:0"))


class CoverageTest(AmdTest):
    def test_kernels_whose_instructions_are_all_there_are_counted(self):
        self.assertRegex(self.succeed("coverage", hsaco("group_sum")), r"gfx1030: 1 of 1 kernels whole, \d+ instructions")

    def test_every_kernel_of_debian_s_libraries_is_whole(self):
        for target in ("gfx1030", "gfx900"):
            counts = json.loads(self.succeed("coverage", *self.libraries(), "--target", target, "--json"))[target]
            self.assertEqual((counts["whole"], counts["kernels"], counts["missing"]), (12671, 12671, {}))

    def test_words_that_are_no_instruction_are_not_covered(self):
        text = self.succeed("coverage", self.raw_shader((0xbfffffff, 0xbf810000)))
        self.assertIn("gfx1030: 0 of 1 kernels whole", text)


if __name__ == "__main__":
    command_testing.WAVEGATE = os.path.abspath(sys.argv.pop(1))
    KERNELS = Path(sys.argv.pop(1)).resolve()
    unittest.main()
