"""Tests of the wavegate command as its users meet it: arguments, text, JSON, files, exit codes.

usage: cli_test.py PATH_OF_WAVEGATE [unittest's arguments]
"""

import gzip
import json
import math
import os
import subprocess
import sys
import tempfile
import unittest

import command_testing
from command_testing import (CommandTest, GRAPH, MATRIX, OPEN_LOOP, STRATEGIES,
                             for_each_device, npy, npy_values, residual, run, run_on_terminal)
# unittest finds them here.
from program_test import BadProgramTest, CalibrateTest, ExplainTest, RunTest, StrategyTest  # noqa: F401

SOLVE_KEYS = ["device", "rows", "nonzeros", "iterations", "relative_residual", "exit_reason", "seconds", "submissions",
              "host_waits", "readbacks", "observations"]
HOST_LOOP_KEYS = SOLVE_KEYS[3:] + ["same_bytes"]


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
        result = subprocess.run(["sh", "-c", '"$0" --version >&-', command_testing.WAVEGATE], capture_output=True, text=True)
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
    command_testing.WAVEGATE = os.path.abspath(sys.argv.pop(1))
    unittest.main()
