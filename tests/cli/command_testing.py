"""What tests of the wavegate command share: how it is run, files, a matrix, a program. Who runs the tests sets WAVEGATE,
the command's path."""

import contextlib
import functools
import json
import math
import os
import pty
import struct
import subprocess
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
    code = {"<f4": "f", "<f8": "d", "<i4": "i", "<i8": "q"}[header["descr"]]
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
