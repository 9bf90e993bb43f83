"""Tests of the wavegate command as its users meet it: arguments, text, JSON, files, exit codes.

usage: cli_test.py PATH_OF_WAVEGATE [unittest's arguments]
"""

import contextlib
import functools
import gzip
import json
import math
import os
import pty
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

WAVEGATE = ""
TIMEOUT_SECONDS = 120  # of one command; what is wrong with a file must show long before

MATRIX = """%%MatrixMarket matrix coordinate real symmetric
4 4 7
1 1 4
2 1 -1
2 2 4
3 2 -1
3 3 4
4 3 -1
4 4 4
"""
GRAPH = "4 3\n2\n1 3\n2 4\n3\n"  # a path; its Laplacian plus the identity is solved
SOLVE_KEYS = ["device", "rows", "nonzeros", "iterations", "relative_residual", "exit_reason", "seconds", "submissions",
              "host_waits", "readbacks", "observations"]
HOST_LOOP_KEYS = SOLVE_KEYS[3:] + ["same_bytes"]
RUN_KEYS = ["device", "program", "loops", "scalars", "seconds", "device_seconds", "submissions", "host_waits",
            "readbacks", "observations"]

STRATEGIES = ["gate", "fused-gate", "chained-gate", "producer", "early-out", "chunked", "predication", "resident",
              "unroll"]

PROGRAM = {
    "wavegate": 1,
    "name": "doubling",
    "buffers": {"x": {"type": "f32", "count": 8, "initial": 1}, "y": {"type": "f32", "count": 8, "initial": 0}},
    "scalars": {"count": {"type": "uint32", "initial": 0}, "going": {"type": "uint32", "initial": 1}},
    "parameters": {"a": {"type": "float32", "value": 2}, "rounds": {"type": "uint32", "value": 3}},
    "run": [
        {"while": "going", "max": 5, "label": "add", "body": [
            {"operation": "madd", "operands": ["a", "x", "y", "y"]},
            {"assign": "count", "value": ["+", "count", 1]},
            {"assign": "going", "value": ["<", "count", "rounds"]},
        ]},
    ],
}


# A loop without a max that runs `rounds` times.
OPEN_LOOP = {
    **PROGRAM,
    "name": "open",
    "run": [
        {"assign": "count", "value": 0},
        {"assign": "going", "value": ["<", "count", "rounds"]},
        {"while": "going", "label": "relax", "body": PROGRAM["run"][0]["body"]},
    ],
}


def npy(code, values, shape=None):
    """The bytes of a .npy file, written without the help of what is tested."""
    descr = {"f": "<f4", "d": "<f8", "i": "<i4", "q": "<i8", "?": "|b1"}[code]
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape or (len(values),)}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    data = struct.pack(f"<{len(values)}{code}", *values)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def npy_values(path):
    """Type and values of a .npy file."""
    data = Path(path).read_bytes()
    assert data[:8] == b"\x93NUMPY\x01\x00", data[:8]
    length = struct.unpack("<H", data[8:10])[0]
    header = eval(data[10:10 + length].decode(), {})
    code = {"<f4": "f", "<f8": "d", "<i4": "i"}[header["descr"]]
    return header["descr"], list(struct.unpack(f"<{header['shape'][0]}{code}", data[10 + length:]))


def residual(x, b):
    """|b - A x| / |b| of MATRIX."""
    size = len(b)
    rows = [4 * x[i] - (x[i - 1] if i > 0 else 0) - (x[i + 1] if i + 1 < size else 0) for i in range(size)]
    return math.dist(rows, b) / math.hypot(*b)


def run(*arguments, environment=None, **options):
    return subprocess.run([WAVEGATE, *map(str, arguments)], stdout=options.pop("stdout", subprocess.PIPE),
                          stderr=subprocess.PIPE, text=True, timeout=TIMEOUT_SECONDS,
                          env={**os.environ, **(environment or {})}, **options)


def run_on_terminal(*arguments, environment=None):
    """The exit code and what a terminal at stderr is sent."""
    leader, follower = pty.openpty()
    variables = {**os.environ, "TERM": "xterm", **(environment or {})}
    if not environment:
        variables.pop("NO_COLOR", None)
    process = subprocess.Popen([WAVEGATE, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=follower,
                               env=variables)
    os.close(follower)
    text = b""
    with contextlib.suppress(OSError):  # Linux reports the end of a terminal as EIO
        while chunk := os.read(leader, 4096):
            text += chunk
    os.close(leader)
    return process.wait(TIMEOUT_SECONDS), text.decode()


class CommandTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.matrix = self.write("a.mtx", MATRIX)

    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def write_program(self, name="program.json", **changes):
        return self.write(name, json.dumps({**PROGRAM, **changes}))

    def succeed(self, *arguments, **options):
        result = run(*arguments, **options)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout

    def fail_with(self, *arguments, code=1, saying="", **options):
        """The command ends with this code and one line of error that says this, and leaves no new file."""
        before = sorted(self.folder.iterdir())
        result = run(*arguments, **options)
        self.assertEqual(result.returncode, code, result)
        self.assertEqual(result.stdout, "")
        self.assertRegex(result.stderr, r"\Awavegate: [^\n]+\n\Z")
        self.assertIn(saying, result.stderr)
        self.assertNotIn("bug", result.stderr)
        self.assertEqual(sorted(self.folder.iterdir()), before)
        return result.stderr


def for_each_device(test):
    """Runs a test on the reference device and on the best Vulkan device, where there is one."""
    @functools.wraps(test)
    def body(self):
        for device in tested_devices():
            with self.subTest(device=device):
                test(self, device)
    return body


@functools.cache
def tested_devices():
    listed = json.loads(run("devices", "--json").stdout)
    return ["reference"] + [device["name"] for device in listed if device["backend"] == "vulkan"][:1]


class DevicesTest(CommandTest):
    def test_json_is_a_list_of_objects_of_five_members(self):
        for device in json.loads(run("devices", "--json").stdout):
            self.assertEqual(list(device), ["name", "backend", "subgroup_size", "memory_bytes", "features"])
            self.assertIsInstance(device["subgroup_size"], int)
            if device["backend"] != "webgpu":  # which does not tell
                self.assertIsInstance(device["memory_bytes"], int)
            self.assertTrue(all(isinstance(feature, str) for feature in device["features"]))

    def test_the_reference_device_comes_last(self):
        self.assertEqual(json.loads(run("devices", "--json").stdout)[-1]["backend"], "reference")

    def test_text_has_one_line_for_each_device_under_a_heading(self):
        listed = json.loads(run("devices", "--json").stdout)
        lines = run("devices").stdout.splitlines()
        self.assertEqual(len(lines), 1 + len(listed))
        self.assertTrue(all(line.startswith(device["name"]) for line, device in zip(lines[1:], listed)), lines)

    def test_without_vulkan_stderr_says_how_to_get_it(self):
        none = {"VK_ICD_FILENAMES": "/nonexistent", "VK_DRIVER_FILES": "/nonexistent"}
        result = run("devices", "--json", environment=none)
        self.assertEqual(result.returncode, 0)
        self.assertEqual([device["backend"] for device in json.loads(result.stdout)], ["reference"])
        self.assertIn("install", result.stderr)


# Dawn does not take Mesa's software driver; Debian's chromium-common has one that it takes.
SWIFTSHADER = "/usr/lib/chromium/vk_swiftshader_icd.json"


class WebGpuTest(CommandTest):
    """The native WebGPU, where the build has it and the machine a driver for it."""

    def setUp(self):
        super().setUp()
        runtime = tempfile.TemporaryDirectory()
        self.addCleanup(runtime.cleanup)
        self.environment = {"VK_DRIVER_FILES": SWIFTSHADER, "VK_ICD_FILENAMES": SWIFTSHADER,
                            "XDG_RUNTIME_DIR": runtime.name}
        listed = json.loads(run("devices", "--json", environment=self.environment).stdout)
        if not any(device["backend"] == "webgpu" for device in listed):
            self.skipTest("there is no WebGPU here, so that this is not tested; run tools/install_webgpu.sh")

    def outputs(self, device, *options):
        y = self.folder / f"y_{device}.npy"
        report = json.loads(self.succeed("run", self.write("open.json", json.dumps(OPEN_LOOP)), "--json", "--out",
                                         f"y={y}", "--device", device, *options, environment=self.environment))
        return npy_values(y), report["loops"], report["scalars"]

    def test_it_writes_the_bytes_of_the_reference_device(self):
        self.assertEqual(self.outputs("webgpu"), self.outputs("reference"))

    def test_it_solves_in_one_wait(self):
        report = json.loads(self.succeed("solve", self.matrix, "--json", "--device", "webgpu",
                                         environment=self.environment))
        self.assertEqual((report["exit_reason"], report["host_waits"]), ("converged", 1))
        self.assertLessEqual(report["relative_residual"], 1e-6)

    def test_it_explains_and_refuses_predication_by_name(self):
        program = self.write_program()
        self.assertIn("add", self.succeed("explain", program, "--device", "webgpu", environment=self.environment))
        self.fail_with("run", program, "--device", "webgpu", "--strategy", "predication", saying="predication",
                       environment=self.environment)

    def test_without_the_library_it_says_how_to_get_it(self):
        none = {**self.environment, "WAVEGATE_WEBGPU_LIBRARY": "/nonexistent"}
        result = run("devices", "--json", environment=none)
        self.assertEqual(result.returncode, 0)
        self.assertNotIn("webgpu", [device["backend"] for device in json.loads(result.stdout)])
        self.assertIn("tools/install_webgpu.sh", result.stderr)
        self.fail_with("solve", self.matrix, "--device", "webgpu", saying="tools/install_webgpu.sh",
                       environment=none)


class SolveTest(CommandTest):
    @for_each_device
    def test_json_has_exactly_these_members(self, device):
        report = json.loads(self.succeed("solve", self.matrix, "--json", "--device", device))
        self.assertEqual(list(report), SOLVE_KEYS)
        self.assertEqual((report["rows"], report["nonzeros"], report["exit_reason"]), (4, 10, "converged"))
        self.assertLessEqual(report["relative_residual"], 1e-6)

    @for_each_device
    def test_one_wait_whatever_the_iterations(self, device):
        report = json.loads(self.succeed("solve", self.matrix, "--json", "--device", device))
        self.assertGreater(report["iterations"], 1)
        self.assertEqual(report["host_waits"], 1)

    @for_each_device
    def test_host_free_is_one_submission_without_a_look(self, device):
        report = json.loads(self.succeed("solve", self.matrix, "--host-free", "--json", "--device", device))
        self.assertGreater(report["iterations"], 1)
        self.assertEqual((report["submissions"], report["host_waits"], report["observations"]), (1, 1, 0))

    @for_each_device
    def test_every_strategy_writes_the_same_bytes(self, device):
        solutions = []
        for strategy in STRATEGIES:
            result = run("solve", self.matrix, "--strategy", strategy, "--max-iterations", 50, "--out",
                         self.folder / "x.npy", "--device", device)
            if result.returncode == 0:
                solutions.append((self.folder / "x.npy").read_bytes())
            else:
                self.assertRegex(result.stderr, rf"unsupported: while \".*\": the {strategy} strategy does not apply")
        self.assertGreaterEqual(len(solutions), 6)
        self.assertEqual(solutions, [solutions[0]] * len(solutions))

    @for_each_device
    def test_out_is_the_solution_in_float64(self, device):
        b = [1.0, 2.0, -3.0, 4.0]
        self.succeed("solve", self.matrix, "--rhs", self.write("b.npy", npy("f", b)), "--out", self.folder / "x.npy",
                     "--tolerance", "1e-9", "--device", device)
        kind, x = npy_values(self.folder / "x.npy")
        self.assertEqual(kind, "<f8")
        self.assertLess(residual(x, b), 1e-8)

    @for_each_device
    def test_comparing_adds_the_host_loop_with_the_same_bytes(self, device):
        report = json.loads(self.succeed("solve", self.matrix, "--compare-host-loop", "--json", "--device", device))
        self.assertEqual(list(report), SOLVE_KEYS + ["host_loop"])
        self.assertEqual(list(report["host_loop"]), HOST_LOOP_KEYS)
        self.assertIs(report["host_loop"]["same_bytes"], True)
        self.assertEqual(report["host_loop"]["iterations"], report["iterations"])
        self.assertEqual(report["host_loop"]["submissions"], report["iterations"])

    def test_comparing_prints_two_columns(self):
        text = self.succeed("solve", self.matrix, "--compare-host-loop", "--device", "reference")
        self.assertRegex(text, r"on the device +host loop\n")
        self.assertRegex(text, r"iterations +(\d+) +\1\n")
        self.assertIn("x has the same bytes from both.", text)

    def test_text_names_what_was_counted(self):
        text = self.succeed("solve", self.matrix, "--device", "reference")
        for label in ("device", "rows", "nonzeros", "iterations", "relative residual", "exit reason", "time",
                      "submissions", "host waits", "readbacks"):
            self.assertRegex(text, rf"(?m)^{label} +\S")

    def test_right_hand_sides_of_any_number_type_give_the_same_solution(self):
        solutions = []
        for code in "fdiq":
            b = self.write("b.npy", npy(code, [1, 2, -3, 4]))
            self.succeed("solve", self.matrix, "--rhs", b, "--out", self.folder / "x.npy", "--device", "reference")
            solutions.append((self.folder / "x.npy").read_bytes())
        self.assertEqual(solutions, [solutions[0]] * 4)

    def test_a_graph_is_solved_as_its_laplacian_plus_the_identity(self):
        graph = self.write("path.graph", GRAPH)
        report = json.loads(self.succeed("solve", graph, "--json", "--device", "reference"))
        self.assertEqual((report["rows"], report["nonzeros"]), (4, 10))

    def test_a_gzipped_matrix_is_solved(self):
        matrix = self.write("a.mtx.gz", gzip.compress(MATRIX.encode()))
        self.succeed("solve", matrix, "--preconditioner", "jacobi", "--device", "reference")

    def test_the_bound_exits_with_1_and_still_writes_the_solution(self):
        result = run("solve", self.matrix, "--max-iterations", 1, "--out", self.folder / "x.npy", "--json", "--device",
                     "reference")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(json.loads(result.stdout)["exit_reason"], "bound")
        self.assertEqual(len(npy_values(self.folder / "x.npy")[1]), 4)

    @for_each_device
    def test_a_breakdown_exits_with_1_and_writes_no_solution(self, device):
        matrix = self.write("indefinite.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 -1\n")
        b = self.write("b.npy", npy("f", [1, 1]))
        result = run("solve", matrix, "--rhs", b, "--out", self.folder / "x.npy", "--json", "--device", device)
        self.assertEqual(result.returncode, 1)
        report = json.loads(result.stdout, parse_constant=self.fail)  # NaN and Infinity are no JSON
        self.assertEqual(report["exit_reason"], "breakdown")
        self.assertIn("positive definite", result.stderr)
        self.assertFalse((self.folder / "x.npy").exists())

    def test_an_output_that_exists_is_replaced_only_on_success(self):
        out = self.write("x.npy", "old")
        self.fail_with("solve", self.write("bad.mtx", "bad"), "--out", out)
        self.assertEqual(out.read_text(), "old")
        self.succeed("solve", self.matrix, "--out", out, "--device", "reference")
        self.assertEqual(len(npy_values(out)[1]), 4)


class BadMatrixTest(CommandTest):
    HEAD = "%%MatrixMarket matrix coordinate real general\n"
    FILES = {
        "an empty file": ("e.mtx", "", "empty"),
        "another format": ("e.mtx", "\x7fELF", "MatrixMarket"),
        "no size": ("e.mtx", HEAD, "size line"),
        "a truncated text": ("e.mtx", HEAD + "2 2 2\n1 1 1.000000000\n", "ends after 1 of the 2"),
        "more entries than claimed": ("e.mtx", HEAD + "2 2 1\n1 1 1\n2 2 1\n", "follows the 1"),
        "sizes beyond the text": ("e.mtx", HEAD + "2000000000 2000000000 2000000000\n1 1 1\n", "claims"),
        "sizes that overflow": ("e.mtx", HEAD + "18446744073709551617 1 1\n1 1 1\n", "18446744073709551617"),
        "rows without end": ("e.mtx", HEAD + "2147483647 2147483647 1\n1 1 1\n", "2147483647"),
        "zero rows": ("e.mtx", HEAD + "0 0 0\n", "number of rows"),
        "a negative index": ("e.mtx", HEAD + "2 2 1\n-1 1 1\n", "-1"),
        "an index beyond the size": ("e.mtx", HEAD + "2 2 1\n3 1 1\n", "3"),
        "a duplicate": ("e.mtx", HEAD + "2 2 2\n1 1 1\n1 1 2\n", "twice"),
        "a NaN": ("e.mtx", HEAD + "1 1 1\n1 1 nan\n", "nan"),
        "an infinity": ("e.mtx", HEAD + "1 1 1\n1 1 1e999\n", "1e999"),
        "complex numbers": ("e.mtx", HEAD.replace("real", "complex") + "1 1 1\n1 1 1 1\n", "complex"),
        "a matrix that is not square": ("e.mtx", HEAD + "2 3 2\n1 1 1\n2 2 1\n", "square"),
        "damaged gzip": ("e.mtx.gz", b"\x1f\x8b\x08\x00garbage", "gzip"),
        "cut gzip": ("e.mtx.gz", gzip.compress(MATRIX.encode())[:-9], "cut off"),
        "an unknown ending": ("e.txt", MATRIX, ".mtx"),
        "a graph without numbers": ("e.graph", "", "no header"),
        "a truncated graph": ("e.graph", "4 3\n2         \n1 3          \n", "ends after 2 of the 4"),
        "a graph that lies": ("e.graph", "2147483647 1000000000\n1\n", "claims"),
        "a graph of no vertices": ("e.graph", "0 0\n", "0"),
        "a neighbour below zero": ("e.graph", "2 1\n-2\n1\n", "-2"),
        "a vertex as its own neighbour": ("e.graph", "2 1\n1\n2\n", "own neighbour"),
        "an edge of one side": ("e.graph", "3 2\n2 3\n1\n2\n", "does not list"),
        "a neighbour twice": ("e.graph", "2 2\n2 2\n1 1\n", "twice"),
    }

    def test_every_bad_matrix_is_refused_by_name(self):
        for what, (name, content, saying) in self.FILES.items():
            with self.subTest(what):
                message = self.fail_with("solve", self.write(name, content), "--out", self.folder / "x.npy",
                                         "--device", "reference", saying=saying)
                if what != "a matrix that is not square":
                    self.assertIn(name, message)

    def test_a_missing_matrix_is_named(self):
        self.fail_with("solve", self.folder / "none.mtx", saying="none.mtx: cannot be opened")

    def test_a_folder_is_no_matrix(self):
        (self.folder / "folder.mtx").mkdir()
        self.fail_with("solve", self.folder / "folder.mtx", saying="is a folder")

    def test_unsorted_entries_mean_the_same_matrix(self):
        head, size, *entries = MATRIX.splitlines(keepends=True)
        shuffled = self.write("shuffled.mtx", head + size + "".join(reversed(entries)))
        for matrix, out in ((self.matrix, "x.npy"), (shuffled, "y.npy")):
            self.succeed("solve", matrix, "--out", self.folder / out, "--device", "reference")
        self.assertEqual((self.folder / "x.npy").read_bytes(), (self.folder / "y.npy").read_bytes())


class BadRightHandSideTest(CommandTest):
    GOOD = npy("f", [1, 2, 3, 4])
    FILES = {
        "an empty file": (b"", "b.npy"),
        "no .npy": (b"1 2 3 4\n", "b.npy"),
        "a cut header": (GOOD[:20], "header"),
        "a truncated array": (GOOD[:-4], "12 follow"),
        "bytes after the end": (GOOD + b"1234", "20 follow"),
        "a shape that lies": (GOOD.replace(b"(4,)", b"(9,)"), "36 bytes"),
        "a shape that overflows": (npy("f", [1], "(4294967296, 4294967296)"), "exceeds"),
        "a negative shape": (npy("f", [1], "(-4,)"), "extent"),
        "too few values": (npy("f", [1, 2, 3]), "3 values"),
        "two dimensions": (npy("f", [1, 2, 3, 4], "(2, 2)"), "dimensions"),
        "a NaN": (npy("f", [1, math.nan, 3, 4]), "nan"),
        "an infinity": (npy("d", [1, math.inf, 3, 4]), "inf"),
        "a value beyond f32": (npy("d", [1, 1e300, 3, 4]), "f32's range"),
        "Python objects": (GOOD.replace(b"<f4", b"|O8"), "|O8"),
    }

    def test_every_bad_right_hand_side_is_refused(self):
        for what, (content, saying) in self.FILES.items():
            with self.subTest(what):
                self.fail_with("solve", self.matrix, "--rhs", self.write("b.npy", content), "--out",
                               self.folder / "x.npy", "--device", "reference", saying=saying)


class OutputTest(CommandTest):
    def test_a_missing_output_folder_is_named_before_the_work(self):
        self.fail_with("solve", self.matrix, "--out", self.folder / "none" / "x.npy", "--device", "reference",
                       saying="cannot create a file in the folder")

    def test_a_file_as_the_output_folder_is_refused(self):
        self.fail_with("solve", self.matrix, "--out", self.matrix / "x.npy", "--device", "reference",
                       saying="cannot create a file in the folder")

    def test_a_folder_as_the_output_is_refused(self):
        self.fail_with("solve", self.matrix, "--out", self.folder, "--device", "reference", saying="is a folder")

    def test_a_full_disk_is_an_error(self):
        self.fail_with("solve", self.matrix, "--out", "/dev/full", "--device", "reference", saying="No space left")

    def test_a_full_standard_output_is_an_error(self):
        with open("/dev/full", "w") as full:
            result = run("--help", stdout=full)
        self.assertEqual(result.returncode, 1)
        self.assertIn("standard output cannot be written: No space left", result.stderr)

    def test_a_closed_standard_output_is_an_error(self):
        result = subprocess.run(["sh", "-c", '"$0" --version >&-', WAVEGATE], capture_output=True, text=True)
        self.assertEqual(result.returncode, 1)
        self.assertIn("standard output", result.stderr)

    def test_a_broken_pipe_ends_the_command_without_a_word(self):
        reader, writer = os.pipe()
        os.close(reader)
        result = run("--help", stdout=writer)
        os.close(writer)
        self.assertNotEqual(result.returncode, 0)
        self.assertEqual(result.stderr, "")

    def test_errors_are_red_on_a_terminal(self):
        self.assertIn("\033[1;31mwavegate:\033[0m", run_on_terminal("solve", "none.mtx")[1])

    def test_no_color_turns_colours_off(self):
        text = run_on_terminal("solve", "none.mtx", environment={"NO_COLOR": "1"})[1]
        self.assertIn("wavegate: invalid input: none.mtx", text)
        self.assertNotIn("[1;31m", text)

    def test_a_terminal_sees_progress_that_is_erased(self):
        code, text = run_on_terminal("solve", self.matrix, "--device", "reference")
        self.assertEqual(code, 0)
        self.assertIn("solving", text)
        self.assertTrue(text.endswith("\r\033[K"), repr(text))

    def test_names_from_files_cannot_command_the_terminal(self):
        program = self.write_program(name="evil \033[2J")
        self.assertNotIn("\033", self.succeed("explain", program) + self.succeed("run", program, "--device", "reference"))


class RunTest(CommandTest):
    @for_each_device
    def test_json_has_exactly_these_members(self, device):
        report = json.loads(self.succeed("run", self.write_program(), "--json", "--device", device))
        self.assertEqual(list(report), RUN_KEYS)
        self.assertEqual(report["program"], "doubling")
        self.assertEqual(report["loops"], [{"label": "add", "trips": 3, "exit_reason": "converged"}])
        self.assertEqual(report["scalars"], {"count": 3, "going": 0, "a": 2.0, "rounds": 3})
        self.assertEqual(report["host_waits"], 1)

    @for_each_device
    def test_inputs_settings_and_outputs_reach_the_program(self, device):
        x = self.write("x.npy", npy("f", range(8)))
        self.succeed("run", self.write_program(), "--in", f"x={x}", "--set", "a=-0.5", "--set", "rounds=2", "--out",
                     f"y={self.folder / 'y.npy'}", "--out", f"x={self.folder / 'x2.npy'}", "--device", device)
        self.assertEqual(npy_values(self.folder / "y.npy"), ("<f4", [-float(i) for i in range(8)]))
        self.assertEqual(npy_values(self.folder / "x2.npy"), ("<f4", [float(i) for i in range(8)]))

    @for_each_device
    def test_outputs_cost_no_further_wait(self, device):
        report = json.loads(self.succeed("run", self.write_program(), "--out", f"y={self.folder / 'y.npy'}", "--json",
                                         "--host-free", "--device", device))
        self.assertEqual((report["submissions"], report["host_waits"], report["observations"]), (1, 1, 0))

    def test_a_loop_that_reaches_its_maximum_reports_the_bound(self):
        text = self.succeed("run", self.write_program(), "--set", "rounds=9", "--device", "reference")
        self.assertRegex(text, r"(?m)^add +5  bound$")
        self.assertRegex(text, r"(?m)^count +5$")

    def test_scalars_that_are_no_number_become_null(self):
        program = self.write_program(scalars={**PROGRAM["scalars"], "z": {"type": "float32", "initial": 0}}, run=[
            {"assign": "z", "value": ["/", "z", "z"]}])
        report = json.loads(self.succeed("run", program, "--json", "--device", "reference"), parse_constant=self.fail)
        self.assertIsNone(report["scalars"]["z"])

    def test_a_dry_run_opens_no_device_and_writes_nothing(self):
        text = self.succeed("run", self.write_program(), "--dry-run", "--device", "no such device", "--out",
                            f"y={self.folder / 'y.npy'}")
        self.assertIn("nothing was run", text)
        self.assertFalse((self.folder / "y.npy").exists())

    def test_a_dry_run_finds_a_mistake(self):
        program = self.write_program(run=[{"operation": "madd", "operands": ["a", "x", "y"]}])
        self.fail_with("run", program, "--dry-run", saying="madd")

    def test_a_mistake_that_is_found_after_parsing_names_the_file(self):
        buffers = {**PROGRAM["buffers"], "half": {"type": "f16", "count": 9, "initial": 0}}
        program = self.write_program(buffers=buffers, run=[
            {"copy": {"from": "half", "to": "half", "from_offset": 1, "to_offset": 4, "count": 2}}])
        for command in (["run"], ["run", "--dry-run"], ["explain"]):
            text = self.fail_with(*command, program, saying='elements 1 to 3 of buffer "half" (f16)')
            self.assertIn(str(program), text)

    def test_a_failed_run_writes_no_output(self):
        body = ["kernel outside {", "  workgroup_size 1 1 1", "  buffer data f32 write", "  %i: i32 = constant 100",
                "  %v: f32 = constant 1", "  store data[%i], %v", "}"]
        program = self.write_program(kernels={"outside": {"kir": body}}, run=[
            {"dispatch": "outside", "bindings": ["y"], "grid": [1]}])
        self.fail_with("run", program, "--out", f"y={self.folder / 'y.npy'}", "--device", "reference",
                       saying='kernel "outside"')

    def test_what_does_not_fit_the_device_is_refused_with_its_limit(self):
        program = self.write_program(buffers={**PROGRAM["buffers"], "huge": {"type": "f32", "count": 1 << 40}},
                                     run=[{"fill": "huge", "value": 1}])
        self.fail_with("run", program, "--device", "reference", saying="huge")


class StrategyTest(CommandTest):
    @for_each_device
    def test_every_strategy_leaves_the_same(self, device):
        program = self.write_program()
        for strategy in STRATEGIES:
            with self.subTest(strategy):
                out = self.folder / "y.npy"
                arguments = ("run", program, "--strategy", strategy, "--out", f"y={out}", "--json", "--device", device)
                # A driver may end the loops of long kernels, and then a resident loop of those is none.
                if strategy == "unroll" or (strategy == "resident" and run(*arguments).returncode != 0):
                    self.fail_with(*arguments, saying=f'while "add": the {strategy} strategy does not apply')
                    continue
                report = json.loads(self.succeed(*arguments))
                self.assertEqual(report["loops"], [{"label": "add", "trips": 3, "exit_reason": "converged"}])
                self.assertEqual(report["host_waits"], 1)
                self.assertEqual(npy_values(out), ("<f4", [6.0] * 8))
                out.unlink()

    def test_a_region_has_its_own(self):
        program = self.write_program()
        text = self.succeed("explain", program, "--strategy", "gate", "--strategy", "add=early-out")
        self.assertRegex(text, r'(?m)^while "add" +early-out +\S+ +\S+ +asked for$')

    def test_an_unknown_region_is_named(self):
        self.fail_with("run", self.write_program(), "--strategy", "ad=gate", "--device", "reference", saying='"ad"')

    def test_wrong_strategies_are_usage_errors(self):
        program = self.write_program()
        for command in (["run", program], ["explain", program], ["solve", self.matrix]):
            for arguments, saying in ((["early-outs"], 'did you mean "early-out"?'), (["add=gates"], '"gate"'),
                                      (["gate", "--strategy", "chunked"], "twice"),
                                      (["add=gate", "--strategy", "add=gate"], "twice")):
                with self.subTest(command=command[0], arguments=arguments):
                    self.fail_with(*command, "--strategy", *arguments, "--device", "reference", code=2, saying=saying)

    @for_each_device
    def test_a_loop_without_max_runs_until_it_is_done(self, device):
        program = self.write("open.json", json.dumps(OPEN_LOOP))
        for strategy in ([], ["--strategy", "chunked"]):
            report = json.loads(self.succeed("run", program, "--set", "rounds=200", *strategy, "--json", "--device",
                                             device))
            self.assertEqual(report["loops"], [{"label": "relax", "trips": 200, "exit_reason": "converged"}])
            self.assertEqual(report["host_waits"], 1)
            self.assertGreater(report["observations"], 0)

    def test_host_free_refuses_a_loop_without_max_by_name(self):
        program = self.write("open.json", json.dumps(OPEN_LOOP))
        for command in ("run", "explain"):
            self.fail_with(command, program, "--host-free", "--device", "reference", saying='while "relax"')

    @for_each_device
    def test_an_endless_loop_ends_at_the_time_limit_and_writes_nothing(self, device):
        program = self.write("open.json", json.dumps(OPEN_LOOP))
        self.fail_with("run", program, "--set", "rounds=4294967295", "--time-limit", "0.2", "--out",
                       f"y={self.folder / 'y.npy'}", "--device", device, saying='loop "relax"')

    def test_a_time_limit_is_a_time(self):
        for limit in ("0", "-1", "soon", "nan", "inf"):
            self.fail_with("run", self.write_program(), "--time-limit", limit, code=2, saying="--time-limit")


class CalibrateTest(CommandTest):
    def test_what_is_measured_is_printed_kept_and_used(self):
        cache = {"XDG_CACHE_HOME": str(self.folder)}
        program = self.write_program()
        explain = ("explain", program, "--device", "reference")
        self.assertIn("default costs", self.succeed(*explain, environment=cache))
        figures = json.loads(self.succeed("calibrate", "--device", "reference", "--json", environment=cache))
        self.assertEqual(list(figures), ["device", "kept", "dispatch", "scalar_step", "indirect",
                                         "indirect_empty", "workgroup_latch", "workgroup_out", "conditional_begin",
                                         "conditional_on", "conditional_off", "resident_step", "resident_invocation",
                                         "resident_idle", "submission", "round_trip"])
        self.assertTrue(figures["kept"])
        for name, figure in list(figures.items())[2:]:
            self.assertGreaterEqual(figure, 0, name)
            self.assertLess(figure, 1e6, name)
        self.assertIn("measured costs", self.succeed(*explain, environment=cache))

    def test_figures_that_cannot_be_kept_are_no_success(self):
        nowhere = {"XDG_CACHE_HOME": str(self.folder / "file" / "cache")}
        (self.folder / "file").write_text("not a folder")
        result = run("calibrate", "--device", "reference", environment=nowhere)
        self.assertEqual(result.returncode, 1)
        self.assertIn("not kept", result.stdout)

    def test_an_unknown_device_is_named(self):
        self.fail_with("calibrate", "--device", "no such device", saying="evice")


class BadProgramTest(CommandTest):
    TEXT = json.dumps(PROGRAM)
    FILES = {
        "an empty file": ("", "program.json"),
        "a truncated text": (TEXT[:100], "program.json"),
        "no JSON": ("wavegate", "program.json"),
        "another version": (TEXT.replace('"wavegate": 1', '"wavegate": 2'), "wavegate"),
        "a member twice": (TEXT[:-1] + ', "name": "again"}', "name"),
        "a misspelt member": (TEXT.replace('"buffers"', '"bufers"'), '"buffers"'),
        "an unknown buffer": (TEXT.replace('"x", "y", "y"', '"x", "y", "q"'), "q"),
        "a count below zero": (TEXT.replace('"count": 8', '"count": -8', 1), "count"),
        "a count that overflows": (TEXT.replace('"count": 8', '"count": 18446744073709551617', 1), "count"),
        "a NaN": (TEXT.replace('"value": 2', '"value": NaN'), "program.json"),
        "a number beyond double": (TEXT.replace('"value": 2', '"value": 1e999'), "program.json"),
        "endless nesting": ("[" * 1000000, "program.json"),
        "bytes that are no UTF-8": (b'{"wavegate": 1, "name": "\xff", "run": []}', "program.json"),
    }

    def test_every_bad_program_is_refused(self):
        for what, (content, saying) in self.FILES.items():
            for command in ("run", "explain"):
                with self.subTest(what, command=command):
                    self.fail_with(command, self.write("program.json", content), "--device", "reference",
                                   saying=saying)

    def test_a_missing_program_is_named(self):
        self.fail_with("run", self.folder / "none.json", saying="none.json")

    def test_unknown_names_are_refused_with_the_nearest(self):
        program = self.write_program()
        x = self.write("x.npy", npy("f", range(8)))
        for option, value, saying in (("--in", f"xx={x}", '"xx"'), ("--out", f"why={self.folder / 'o.npy'}", '"why"'),
                                      ("--set", "roumds=3", '"rounds"'), ("--set", "count=3", '"count"')):
            with self.subTest(value):
                text = self.fail_with("run", program, option, value, "--device", "reference", saying=saying)
                self.assertIn(str(program), text)

    def test_values_that_do_not_fit_a_parameter_are_refused(self):
        for value in ("rounds=-1", "rounds=1.5", "rounds=4294967296", "rounds=many", "a=1e99"):
            with self.subTest(value):
                self.fail_with("run", self.write_program(), "--set", value, "--device", "reference",
                               saying=value.split("=")[0])

    def test_inputs_of_another_size_or_type_are_refused(self):
        for content in (npy("f", range(7)), npy("i", range(8)), npy("f", range(8))[:-1]):
            self.fail_with("run", self.write_program(), "--in", f"x={self.write('x.npy', content)}", "--device",
                           "reference", saying="x")


    def test_an_input_without_an_end_is_refused(self):
        self.fail_with("run", self.write_program(), "--in", "x=/dev/zero", "--device", "reference", saying="/dev/zero")


class ExplainTest(CommandTest):
    def test_the_first_line_says_for_which_profile(self):
        self.assertRegex(self.succeed("explain", self.write_program()).splitlines()[0], r'profile of ".*" \(reference\)')

    def test_regions_come_with_strategy_and_reason_and_then_the_graph(self):
        text = self.succeed("explain", self.write_program())
        self.assertRegex(text, r"region +strategy +us +us if not +reason\n")
        self.assertRegex(text, r'(?m)^while "add" +\S+ +\d+\.\d +\d+\.\d +\S')
        self.assertIn('graph "doubling"', text)

    def test_dot_is_a_graph_for_graphviz(self):
        text = self.succeed("explain", self.write_program(), "--dot")
        code = [line for line in text.splitlines() if not line.startswith("//")]
        self.assertTrue(code[0].startswith("digraph"), code[0])
        self.assertEqual(code[-1], "}")

    def test_json_has_exactly_these_members(self):
        report = json.loads(self.succeed("explain", self.write_program(), "--json"))
        self.assertEqual(list(report), ["program", "device", "backend", "regions", "notes", "graph"])
        self.assertTrue(report["regions"])
        for region in report["regions"]:
            self.assertEqual(list(region), ["depth", "label", "strategy", "reason", "microseconds",
                                            "microseconds_if_not"])
            self.assertIn(region["strategy"], STRATEGIES)


class ArgumentsTest(CommandTest):
    def test_help_shows_examples_everywhere(self):
        for command in ([], ["devices"], ["solve"], ["run"], ["explain"], ["calibrate"], ["objects"], ["disasm"]):
            with self.subTest(command):
                self.assertIn("Examples:\n  wavegate ", self.succeed(*command, "--help"))

    def test_the_version_is_printed_everywhere(self):
        for command in ([], ["devices"], ["solve"], ["run"], ["explain"], ["calibrate"], ["objects"], ["disasm"]):
            with self.subTest(command):
                self.assertRegex(self.succeed(*command, "--version"), r"\Awavegate \d+\.\d+\.\d+\n\Z")

    def test_no_command_is_a_usage_error(self):
        self.fail_with(code=2, saying="name a command")

    def test_an_unknown_command_suggests_the_nearest(self):
        self.fail_with("sovle", "a.mtx", code=2, saying='did you mean "solve"?')

    def test_an_unknown_option_suggests_the_nearest(self):
        self.fail_with("solve", self.matrix, "--tolerence", "1", code=2, saying='did you mean "--tolerance"?')

    def test_usage_errors_exit_with_2(self):
        program = self.write_program()
        for arguments in (["solve"], ["run"], ["explain"], ["solve", self.matrix, "more"],
                          ["solve", self.matrix, "--tolerance", "small"], ["solve", self.matrix, "--tolerance", "0"],
                          ["solve", self.matrix, "--max-iterations", "-1"],
                          ["solve", self.matrix, "--max-iterations", "4294967295"],
                          ["solve", self.matrix, "--max-iterations", "4294967296"],
                          ["solve", self.matrix, "--preconditioner", "ilu"], ["solve", self.matrix, "--out"],
                          ["run", program, "--set", "a"], ["run", program, "--set", "=1"], ["run", program, "--in", "x="],
                          ["run", program, "--set", "a=1", "--set", "a=2"],
                          ["run", program, "--out", "x=a.npy", "--out", "y=a.npy"]):
            with self.subTest(arguments):
                self.fail_with(*arguments, code=2)

    def test_too_many_iterations_are_refused_by_the_option_s_name(self):
        self.fail_with("solve", self.matrix, "--max-iterations", "4294967295", code=2, saying="--max-iterations")
        self.fail_with("solve", self.matrix, "--max-iterations", "1000001", code=2, saying="1000000")

    def test_an_unknown_device_is_named(self):
        for arguments in (["solve", self.matrix], ["run", self.write_program()], ["explain", self.write_program()]):
            with self.subTest(arguments):
                self.fail_with(*arguments, "--device", "no such device", saying="evice")

    def test_the_environment_chooses_the_device(self):
        report = json.loads(self.succeed("solve", self.matrix, "--json", environment={"WAVEGATE_DEVICE": "reference"}))
        listed = json.loads(run("devices", "--json").stdout)
        self.assertEqual(report["device"], listed[-1]["name"])

    def test_the_environment_chooses_the_device_of_explain(self):
        program = self.write_program()
        text = self.succeed("explain", program, environment={"WAVEGATE_DEVICE": "reference"})
        self.assertIn("named by WAVEGATE_DEVICE", text.splitlines()[0])
        self.fail_with("explain", program, environment={"WAVEGATE_DEVICE": "no such device"}, saying="no such device")
        self.succeed("explain", program, "--device", "reference", environment={"WAVEGATE_DEVICE": "no such device"})


if __name__ == "__main__":
    WAVEGATE = os.path.abspath(sys.argv.pop(1))
    unittest.main()
