"""Tests of the Python module as its users meet it: kernels on NumPy arrays.

usage: wavegate_test.py FOLDER_OF_COMPILED_KERNELS [unittest's arguments]
"""

import ctypes
import pickle
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

import numpy as np
import wavegate

KERNELS = Path()


def hsaco(name, target="gfx1030.w32"):
    return KERNELS / f"{name}.{target}.hsaco"


def bundle(*targets):
    """An offload bundle of one object for each target, as clang's documentation describes it."""
    entries = [(f"hipv4-amdgcn-amd-amdhsa--{target.split('.')[0]}".encode(), hsaco("saxpy", target).read_bytes())
               for target in targets]
    table = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(entries))
    place = len(table) + sum(24 + len(name) for name, _ in entries)
    contents = b""
    for name, content in entries:
        table += struct.pack("<QQQ", place + len(contents), len(content), len(name)) + name
        contents += content
    return table + contents


def ramp(count, dtype=np.float32):
    return np.arange(count, dtype=dtype)


class ModuleTest(unittest.TestCase):
    def setUp(self):
        self.module = wavegate.load(hsaco("arguments"))

    def raises(self, kind, saying):
        return self.assertRaisesRegex(kind, saying)


class LoadTest(ModuleTest):
    def test_a_module_maps_names_to_kernels_in_the_order_of_the_file(self):
        self.assertEqual(list(self.module)[:2], ["add", "numbers"])
        self.assertEqual([kernel.name for kernel in self.module.kernels], list(self.module))
        self.assertEqual(len(self.module), len(self.module.kernels))
        self.assertIn("add", self.module)
        self.assertNotIn("subtract", self.module)
        self.assertIsNone(self.module.get("subtract"))
        with self.raises(KeyError, "no kernel 'subtract'; there are add, numbers"):
            self.module["subtract"]

    def test_what_is_shown_tells_kernels_and_their_arguments(self):
        self.assertRegex(repr(self.module), r"arguments.gfx1030.w32.hsaco for gfx1030, \d+ kernels: add, numbers, ")
        self.assertEqual(repr(self.module["add"]),
                         "<wavegate.Kernel add(x: float*, y: float*, n: uint) for gfx1030, wave32>")

    def test_a_kernel_tells_what_it_needs(self):
        kernel = wavegate.load(hsaco("group_sum", "gfx900.w64"))["group_sum"]
        self.assertEqual((kernel.target, kernel.wave, kernel.lds_bytes, kernel.required_workgroup),
                         ("gfx900", 64, 1024, (256, 1, 1)))
        self.assertIsNone(self.module["add"].required_workgroup)

    def test_arguments_have_names_kinds_types_sizes_and_places(self):
        x, _, n = self.module["add"].arguments
        self.assertEqual((x.name, x.kind, x.type, x.size, x.offset, x.dtype), ("x", "global_buffer", "float*", 8, 0,
                                                                               np.dtype(np.float32)))
        self.assertEqual((n.name, n.kind, n.type, n.size, n.offset, n.dtype), ("n", "by_value", "uint", 4, 16,
                                                                               np.dtype(np.uint32)))
        v, w, t, _ = self.module["vectors"].arguments
        self.assertEqual([(a.dtype, a.lanes, a.size) for a in (v, w, t)],
                         [(np.dtype(np.float32), 4, 16), (np.dtype(np.int32), 3, 16), (None, 1, 12)])

    def test_bytes_are_read_as_the_file_is(self):
        self.assertEqual(list(wavegate.load(hsaco("arguments").read_bytes())), list(self.module))

    def test_of_a_file_for_several_processors_one_must_be_named(self):
        fat = bundle("gfx900.w64", "gfx1030.w32")
        with self.raises(wavegate.InvalidInputError, "gfx1030, gfx900; say which with target="):
            wavegate.load(fat)
        self.assertEqual(wavegate.load(fat, "gfx900").targets, ("gfx900",))
        self.assertEqual(wavegate.load(fat, target="gfx1030")["saxpy"].wave, 32)
        with self.raises(wavegate.InvalidInputError, "holds no code for gfx1100, but for gfx900, gfx1030"):
            wavegate.load(fat, "gfx1100")
        with self.raises(wavegate.InvalidInputError, '"rdna2" is no target'):
            wavegate.load(fat, "rdna2")

    def test_what_is_no_code_is_refused(self):
        with self.raises(ValueError, "neither an AMD code object"):
            wavegate.load(b"not code")
        with self.raises(wavegate.InvalidInputError, "cut off|beyond"):
            wavegate.load(hsaco("saxpy").read_bytes()[:500])
        with self.assertRaises(FileNotFoundError):
            wavegate.load("there is no such file")

    def test_an_error_names_the_file(self):
        with tempfile.NamedTemporaryFile(suffix=".hsaco") as file:
            file.write(b"nothing")
            file.flush()
            with self.raises(wavegate.InvalidInputError, f"^{file.name}: "):
                wavegate.load(file.name)


class CallTest(ModuleTest):
    def test_a_kernel_works_on_the_memory_of_arrays(self):
        x, y = ramp(100), np.ones(100, np.float32)
        report = self.module["add"](100, 64, x, y, 100)
        np.testing.assert_array_equal(y, ramp(100) + 1)
        np.testing.assert_array_equal(x, ramp(100))
        self.assertEqual((report.workgroups, report.waves, report.findings), (2, 4, ()))
        self.assertGreater(report.lane_instructions, report.instructions)

    def test_arguments_come_by_position_or_by_name(self):
        x = ramp(10)
        for call in (lambda y: self.module["add"](10, 10, x, n=10, y=y), lambda y: self.module["add"](10, 10, n=10, x=x, y=y)):
            y = np.zeros(10, np.float32)
            call(y)
            np.testing.assert_array_equal(y, x)

    def test_names_of_options_and_sizes_are_free_for_arguments(self):
        out = np.zeros(1, np.int32)
        self.module["named"](1, 1, 3, out=out, threads=4)
        self.assertEqual(out[0], 304)

    def test_arguments_that_are_not_the_kernels_are_type_errors(self):
        add, x, y = self.module["add"], ramp(4), ramp(4)
        for call, saying in ((lambda: add(4, 4, x, y), r'argument 2 "n" \(uint\) is not given'),
                             (lambda: add(4, 4, x, y, 4, 5), "takes 3 arguments, but 4 are given"),
                             (lambda: add(4, 4, x, y, 4, x=x), '"x" is given by position and by name'),
                             (lambda: add(4, 4, x, y, m=4), 'no argument "m"; its names are x, y, n')):
            with self.raises(wavegate.ArgumentError, saying) as raised:
                call()
            self.assertIsInstance(raised.exception, TypeError)

    def test_sizes_are_numbers_or_up_to_three(self):
        ids = wavegate.load(hsaco("ids"))["ids"]
        out = np.zeros((2, 3, 5, 4), np.uint32)
        ids((5, 3, 2), (2, 2), out, 5, 3)
        z, y, x = np.indices((2, 3, 5))
        np.testing.assert_array_equal(out[..., 0], x)
        np.testing.assert_array_equal(out[..., 1], y)
        np.testing.assert_array_equal(out[..., 2], z)
        for sizes in (0, -1, (1, 1, 1, 1), (), 1 << 32):
            with self.raises(wavegate.InvalidInputError, "threads is one to three sizes"):
                ids(sizes, 1, out, 5, 3)
        with self.raises(wavegate.ArgumentError, "group is an integer or up to three, not 2.5"):
            ids(1, 2.5, out, 5, 3)

    def test_a_group_that_the_kernel_does_not_allow_is_refused(self):
        with self.raises(ValueError, "requires groups of 128x1x1"):
            self.module["racing"](64, 64, np.zeros(64, np.int32))

    def test_views_of_one_array_are_one_memory(self):
        values = ramp(8)
        self.module["add"](4, 4, values[2:6], values[4:8], 4)
        np.testing.assert_array_equal(values, [0, 1, 2, 3, 4 + 2, 5 + 3, 6 + 4, 7 + 5])

    def test_an_array_given_twice_is_one_memory(self):
        values = ramp(8)
        self.module["add"](8, 8, values, values, 8)
        np.testing.assert_array_equal(values, 2 * ramp(8))

    def test_pointers_to_lds_take_their_bytes(self):
        x = ramp(64, np.int32)
        self.module["reversed"](64, 64, 256, 256, x)
        np.testing.assert_array_equal(x, 3 * ramp(64, np.int32)[::-1])
        with self.raises(wavegate.FindingError, "out-of-bounds"):
            self.module["reversed"](64, 64, 256, 128, x)
        with self.raises(wavegate.ArgumentError, "pointer to LDS"):
            self.module["reversed"](64, 64, x, 256, x)

    def test_none_is_a_null_pointer(self):
        out = np.zeros(1, np.int32)
        self.module["null_or"](1, 1, None, out)
        self.assertEqual(out[0], -1)

    def test_variables_of_a_module_keep_their_values(self):
        out = np.zeros(1, np.uint32)
        for expected in (8, 9, 10):
            self.module["counted"](1, 1, out)
            self.assertEqual(out[0], expected)
        wavegate.load(hsaco("arguments"))["counted"](1, 1, out)
        self.assertEqual(out[0], 8)

    def test_atomics_add_up_over_all_host_threads(self):
        values, total = ramp(10000, np.int32), np.zeros(1, np.int32)
        self.module["atomic_sum"](10000, 64, values, total, 10000)
        self.assertEqual(total[0], values.sum())

    def test_an_empty_array_is_a_buffer_of_nothing(self):
        empty = np.zeros(0, np.float32)
        self.module["add"](4, 4, empty, empty, 0)
        with self.assertRaises(wavegate.FindingError):
            self.module["add"](4, 4, empty, empty, 1)

    def test_the_other_target_does_the_same(self):
        x, y = ramp(100), np.ones(100, np.float32)
        wavegate.load(hsaco("arguments", "gfx900.w64"))["add"](100, 64, x, y, 100)
        np.testing.assert_array_equal(y, ramp(100) + 1)


class NumberTest(ModuleTest):
    def call(self, c=0, u=0, i=0, l=0, h=0, f=0, d=0):  # noqa: E741
        integers, floats = np.zeros(4, np.int64), np.zeros(3)
        self.module["numbers"](1, 1, c, u, i, l, h, f, d, integers, floats)
        return [*integers[:3], int(integers.view(np.uint64)[3])], list(floats)

    def test_numbers_arrive_as_they_are(self):
        integers, floats = self.call(-128, 65535, -2**31, 2**64 - 1, 0.5, 1 / 3, 1 / 3)
        self.assertEqual(integers, [-128, 65535, -2**31, 2**64 - 1])
        self.assertEqual(floats, [0.5, float(np.float32(1 / 3)), 1 / 3])

    def test_numpy_s_scalars_and_bools_are_numbers(self):
        integers, floats = self.call(np.int64(-3), np.uint8(7), True, np.bool_(True), np.float64(2), np.int32(5),
                                     np.float32(0.25))
        self.assertEqual(integers, [-3, 7, 1, 1])
        self.assertEqual(floats, [2, 5, 0.25])
        self.assertEqual(self.call(i=np.array(6))[0][2], 6)

    def test_numbers_that_do_not_fit_are_refused_with_the_limits(self):
        for argument, value, limits in (("c", 128, "-128 to 127"), ("c", -129, "-128 to 127"), ("u", -1, "0 to 65535"),
                                        ("u", 65536, "0 to 65535"), ("i", 2**31, "-2147483648 to 2147483647"),
                                        ("l", 2**64, "0 to 18446744073709551615"), ("c", np.int64(1000), "-128 to 127"),
                                        ("h", 65520.0, "float16"), ("f", 1e39, "float32"), ("d", 10**400, "float64")):
            with self.raises(wavegate.InvalidInputError, f'"{argument}".* takes .*{limits}'):
                self.call(**{argument: value})

    def test_infinities_and_not_a_number_are_floats(self):
        floats = self.call(h=float("inf"), f=float("-inf"), d=float("nan"))[1]
        self.assertEqual(floats[:2], [float("inf"), float("-inf")])
        self.assertNotEqual(floats[2], floats[2])

    def test_what_is_no_number_of_the_kind_is_a_type_error(self):
        for argument, value, saying in (("i", 1.0, "takes an integer, not float"), ("i", "1", "not str"),
                                        ("f", "1", "takes a number, not str"), ("f", 1j, "not complex"),
                                        ("i", np.float32(1), "not float32"), ("d", None, "not NoneType"),
                                        ("i", ramp(2), "not an array of float32")):
            with self.raises(wavegate.ArgumentError, saying):
                self.call(**{argument: value})

    def test_vectors_and_structures_arrive_whole(self):
        out = np.zeros(7, np.float32)
        triple = struct.pack("<ifhxx", 5, 6.5, -7)
        expected = [1, 4, 10, 30, 5, 6.5, -7]
        self.module["vectors"](1, 1, (1, 2, 3, 4), np.array([10, 20, 30], np.int32), triple, out)
        np.testing.assert_array_equal(out, expected)
        dtype = np.dtype([("first", "i4"), ("second", "f4"), ("third", "i2")], align=True)

        class Triple(ctypes.Structure):
            _fields_ = [("first", ctypes.c_int), ("second", ctypes.c_float), ("third", ctypes.c_short)]

        for structure in (np.array((5, 6.5, -7), dtype), np.array([(5, 6.5, -7)], dtype)[0], Triple(5, 6.5, -7)):
            out[:] = 0
            self.module["vectors"](1, 1, ramp(4) + 1, [10, 20, 30], structure, out)
            np.testing.assert_array_equal(out, expected)

    def test_vectors_and_structures_of_another_size_are_refused(self):
        out, triple = np.zeros(7, np.float32), bytes(12)
        for call, saying in ((lambda: ((1, 2, 3), (1, 2, 3), triple), "takes 4 numbers, not tuple of 3"),
                             (lambda: (1, (1, 2, 3), triple), "takes 4 numbers, not int"),
                             (lambda: ((1, 2, 3, 4), (1, 2, 3.5), triple), "takes an integer, not float"),
                             (lambda: ((1, 2, 3, 4), (1, 2, 3), bytes(11)), "has 12 bytes, but .*bytes, has 11"),
                             (lambda: ((1, 2, 3, 4), (1, 2, 3), 5), "has 12 bytes; give them as bytes")):
            with self.raises(wavegate.ArgumentError, saying):
                self.module["vectors"](1, 1, *call(), out)


class UntoldTypeTest(unittest.TestCase):
    """saxpy(float a, const float* x, float* y, uint count), whose file tells sizes alone."""

    def setUp(self):
        content = hsaco("saxpy").read_bytes()
        for name in (b"float*", b"float", b"uint"):
            content = content.replace(bytes([0xa0 + len(name)]) + name, bytes([0xa0 + len(name)]) + b"?" * len(name))
        self.saxpy = wavegate.load(content)["saxpy"]

    def call(self, a, count):
        y = np.ones(4, np.float32)
        self.saxpy(4, 64, a, ramp(4), y, count)
        return list(y)

    def test_an_int_is_an_integer_and_a_float_a_float(self):
        self.assertEqual([argument.dtype for argument in self.saxpy.arguments], [None] * 4)
        self.assertEqual(self.call(2.0, 4), [1, 3, 5, 7])
        self.assertEqual(self.call(np.float32(2), np.uint32(4)), [1, 3, 5, 7])

    def test_what_has_another_size_is_refused(self):
        for a, saying in ((np.float64(2), "has 4 bytes, but what is given, float64, has 8"), (1 << 32, "does not fit"),
                          (1e39, "float32"), ("2", "takes a number, or 4 bytes, not str")):
            with self.assertRaisesRegex(wavegate.InvalidInputError, saying):
                self.call(a, 4)


class BufferTest(ModuleTest):
    def add(self, x, y=None):
        return self.module["add"](4, 4, x, ramp(4) if y is None else y, 4)

    def test_what_is_no_array_is_refused(self):
        for value, kind in (([1.0, 2.0, 3.0, 4.0], "list"), (b"0" * 16, "bytes"), (7, "int"), (np.float32(1), "float32")):
            with self.raises(wavegate.ArgumentError, f'"x".* give a NumPy array, or None .*, not {kind}'):
                self.add(value)

    def test_an_array_of_another_type_than_the_kernel_s_is_refused(self):
        for dtype in (np.float64, np.int32, np.float16, np.bool_, "V4", "datetime64[s]"):
            with self.raises(wavegate.ArgumentError, "leads to float32, but the array is of"):
                self.add(np.zeros(4, dtype))

    def test_integers_may_differ_in_their_sign(self):
        out = np.zeros(1, np.uint32)
        self.module["null_or"](1, 1, np.array([5], np.uint32), out)
        self.assertEqual(out[0], 5)

    def test_arrays_with_gaps_or_another_order_are_refused(self):
        for array in (ramp(8)[::2], np.zeros((2, 2), np.float32).T, ramp(4)[::-1]):
            with self.raises(wavegate.ArgumentError, "ascontiguousarray"):
                self.add(array)
        with self.raises(wavegate.ArgumentError, "other order"):
            self.add(np.zeros(4, ">f4"))
        with self.raises(wavegate.ArgumentError, "Python's objects"):
            self.add(np.zeros(4, object))

    def test_any_shape_is_memory(self):
        y = np.zeros((2, 2), np.float32)
        self.add(np.asfortranarray(ramp(4)), y)
        np.testing.assert_array_equal(y, [[0, 1], [2, 3]])

    def test_a_read_only_array_is_read_and_writing_it_is_a_finding(self):
        x, y = ramp(4), ramp(4)
        x.flags.writeable = False
        self.add(x, y)
        np.testing.assert_array_equal(y, 2 * ramp(4))
        with self.raises(wavegate.FindingError, "write"):
            self.add(y, x)
        np.testing.assert_array_equal(x, ramp(4))

    def test_slices_begin_where_they_do(self):
        x, y = ramp(9), np.zeros(9, np.float32)
        self.add(x[1:5], y[3:7])
        np.testing.assert_array_equal(y, [0, 0, 0, 1, 2, 3, 4, 0, 0])


class FindingTest(ModuleTest):
    def test_an_access_out_of_bounds_raises_with_what_where_and_who(self):
        with self.assertRaises(wavegate.FindingError) as raised:
            self.module["add"](100, 64, ramp(90), ramp(100), 100)
        finding = raised.exception.findings[0]
        self.assertEqual((finding.kind, finding.workgroup, finding.wave, finding.lane), ("out-of-bounds read", (1, 0, 0),
                                                                                         0, 26))
        self.assertIn("global_load", finding.instruction)
        self.assertIn(finding.instruction, str(raised.exception))
        self.assertEqual(raised.exception.kind, "finding")
        self.assertEqual(raised.exception.report.workgroups, 2)

    def test_a_finding_tells_file_and_line_where_the_object_does(self):
        kernel = wavegate.load(hsaco("group_sum", "gfx1030.w32_dwarf5"))["group_sum"]
        finding = kernel(256, 256, np.zeros(200, np.int32), np.zeros(1, np.int32), findings="return").findings[0]
        source = (Path(__file__).parents[1] / "amdgpu/kernels/group_sum.cl").read_text().splitlines()
        self.assertTrue(finding.file.endswith("group_sum.cl"), finding)
        self.assertIn("= values[", source[finding.line - 1])
        self.assertIn(f"group_sum.cl:{finding.line}", str(finding))

    def test_findings_can_be_returned_instead(self):
        report = self.module["add"](100, 64, ramp(90), ramp(100), 100, findings="return")
        self.assertEqual([finding.kind for finding in report.findings], ["out-of-bounds read"])
        with self.raises(wavegate.InvalidInputError, '"raise" or "return"'):
            self.module["add"](1, 1, ramp(1), ramp(1), 1, findings="print")

    def test_races_are_found_where_they_are_looked_for(self):
        out = np.zeros(128, np.int32)
        self.module["racing"](128, 128, out)
        with self.raises(wavegate.FindingError, "LDS race"):
            self.module["racing"](128, 128, out, check=True)

    def test_errors_of_one_module_can_be_pickled(self):
        with self.assertRaises(wavegate.FindingError) as raised:
            self.module["add"](4, 4, ramp(3), ramp(4), 4)
        copy = pickle.loads(pickle.dumps(raised.exception))
        self.assertEqual((str(copy), copy.findings), (str(raised.exception), raised.exception.findings))

    def test_what_runs_too_long_is_ended(self):
        with self.raises(wavegate.InvalidInputError, "1000 instructions without an end"):
            self.module["waiting"](1, 1, np.zeros(1, np.int32), max_instructions=1000)

    def test_a_kind_of_argument_that_is_missing_is_unsupported_by_name(self):
        with self.raises(NotImplementedError, '"image".* of kind "image"') as raised:
            self.module["picture"](1, 1, None, np.zeros(1, np.int32))
        self.assertIsInstance(raised.exception, wavegate.UnsupportedError)

    def test_every_error_is_a_wavegate_error_and_one_of_python_s(self):
        for kind, base in ((wavegate.InvalidInputError, ValueError), (wavegate.ArgumentError, TypeError),
                           (wavegate.UnsupportedError, NotImplementedError), (wavegate.DeviceError, RuntimeError),
                           (wavegate.FindingError, RuntimeError)):
            self.assertTrue(issubclass(kind, wavegate.Error) and issubclass(kind, base), kind)


class ThreadTest(ModuleTest):
    def test_other_threads_run_meanwhile(self):
        kernel, done = self.module["waiting"], threading.Event()

        def launch():
            try:
                kernel(1, 1, np.zeros(1, np.int32), max_instructions=100_000_000)
            except wavegate.InvalidInputError:
                done.set()

        thread = threading.Thread(target=launch)
        thread.start()
        steps = 0
        while thread.is_alive():
            steps += 1
            time.sleep(0.001)
        thread.join()
        self.assertTrue(done.is_set())
        self.assertGreater(steps, 5)

    def test_calls_from_several_threads_do_not_mix(self):
        results = [np.zeros(256, np.float32) for _ in range(8)]

        def launch(number):
            self.module["add"](256, 64, np.full(256, number, np.float32), results[number], 256)

        threads = [threading.Thread(target=launch, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for number, result in enumerate(results):
            np.testing.assert_array_equal(result, np.full(256, number))


class InterruptTest(unittest.TestCase):
    def test_control_c_ends_a_launch(self):
        code = ("import sys, numpy, wavegate\n"
                "kernel = wavegate.load(sys.argv[1])['waiting']\n"
                "print('ready', flush=True)\n"
                "try:\n"
                "    kernel(1, 1, numpy.zeros(1, numpy.int32), max_instructions=10**15)\n"
                "except KeyboardInterrupt:\n"
                "    print('interrupted')\n")
        with subprocess.Popen([sys.executable, "-c", code, hsaco("arguments")], stdout=subprocess.PIPE, text=True) as child:
            self.assertEqual(child.stdout.readline(), "ready\n")
            time.sleep(0.3)
            child.send_signal(signal.SIGINT)
            output, _ = child.communicate(timeout=60)
        self.assertEqual((child.returncode, output), (0, "interrupted\n"))

    def test_control_c_ends_the_wait_for_another_thread_s_launch(self):
        code = ("import os, sys, threading, time, numpy, wavegate\n"
                "module, zero = wavegate.load(sys.argv[1]), numpy.zeros(1, numpy.int32)\n"
                "threading.Thread(target=module['waiting'], args=(1, 1, zero), daemon=True,\n"
                "                 kwargs={'max_instructions': 10**15}).start()\n"
                "time.sleep(0.5)\n"
                "print('ready', flush=True)\n"
                "try:\n"
                "    module['null_or'](1, 1, None, zero.copy())\n"
                "except KeyboardInterrupt:\n"
                "    print('interrupted', flush=True)\n"
                "os._exit(0)\n")
        with subprocess.Popen([sys.executable, "-c", code, hsaco("arguments")], stdout=subprocess.PIPE, text=True) as child:
            try:
                self.assertEqual(child.stdout.readline(), "ready\n")
                time.sleep(0.3)
                child.send_signal(signal.SIGINT)
                output, _ = child.communicate(timeout=20)
            finally:
                child.kill()
        self.assertEqual(output, "interrupted\n")


class ImportTest(unittest.TestCase):
    def test_without_numpy_the_import_says_what_is_missing(self):
        code = "import sys; sys.modules['numpy'] = None; import wavegate"
        result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual(result.returncode, 1)
        self.assertIn("ImportError: wavegate runs kernels on NumPy arrays, but there is no NumPy (Debian's package is "
                      "python3-numpy", result.stderr)

    def test_the_package_says_that_it_is_typed(self):
        folder = Path(wavegate.__file__).parent
        self.assertTrue((folder / "py.typed").is_file() and (folder / "_native.pyi").is_file())

    def test_what_it_offers_is_documented(self):
        for name in wavegate.__all__:
            self.assertTrue(getattr(wavegate, name).__doc__, name)


if __name__ == "__main__":
    KERNELS = Path(sys.argv.pop(1)).resolve()
    unittest.main()
