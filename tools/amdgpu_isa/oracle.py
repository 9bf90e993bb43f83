"""What LLVM 19 says of words: the reference that the tables are made from and that the tests compare with. It is called
through the C interface of libLLVM, which llvm-mc-19 and llvm-objdump-19 come with, and prints what they print."""

import ctypes
import mmap
import os
import signal
import struct

LIBRARIES = ("libLLVM.so.19.1", "libLLVM-19.so.1", "/usr/lib/llvm-19/lib/libLLVM.so.19.1",
             "/usr/lib/llvm-19/lib/libLLVM.so.1")
TARGETS = ("gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx1010", "gfx1013", "gfx1030", "gfx1100", "gfx1150",
           "gfx1200")
# Behind each candidate: s_nop 0 on every target.
PADDING = (0xBF800000,) * 4
CHUNK = 16384
ROOM = 320  # bytes of an answer in the shared memory


def generation(target):
    number = target[3:]
    return 9 if number.startswith("9") else int(number[:2])


def waves(target):
    return (64,) if generation(target) == 9 else (32, 64)


class Disassembler:
    """LLVM's, for one target and wave width."""
    library = None

    def __init__(self, target, wave):
        cls = Disassembler
        if cls.library is None:
            for name in LIBRARIES:
                try:
                    cls.library = ctypes.CDLL(name)
                    break
                except OSError:
                    continue
            if cls.library is None:
                raise FileNotFoundError("libLLVM of llvm-19 is not installed")
            for name in ("TargetInfo", "TargetMC", "Disassembler", "Target"):
                getattr(cls.library, "LLVMInitializeAMDGPU" + name)()
            cls.library.LLVMCreateDisasmCPUFeatures.restype = ctypes.c_void_p
            cls.library.LLVMDisasmInstruction.restype = ctypes.c_size_t
            cls.library.LLVMDisasmInstruction.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64,
                                                          ctypes.c_uint64, ctypes.c_char_p, ctypes.c_size_t]
        features = "" if generation(target) == 9 else (
            "+wavefrontsize32,-wavefrontsize64" if wave == 32 else "-wavefrontsize32,+wavefrontsize64")
        self.handle = cls.library.LLVMCreateDisasmCPUFeatures(b"amdgcn-amd-amdhsa", target.encode(), features.encode(),
                                                              None, 0, None, None)
        self.text = ctypes.create_string_buffer(ROOM)

    def __call__(self, words):
        """(text, length in words), or None for what is no instruction."""
        code = struct.pack("<%dI" % len(words), *words)
        length = Disassembler.library.LLVMDisasmInstruction(self.handle, code, len(code), 0, self.text, ROOM)
        if not length:
            return None
        # What follows a semicolon is a remark, as on registers that are not aligned.
        return self.text.value.decode().partition(" ; ")[0].strip().replace("\t", " "), length // 4


DISASSEMBLERS = {}


def probe(target, wave, candidates, padding=PADDING):
    """Of each candidate (some words), what its first instruction is: (text, length in words), None for none, "crash".
    LLVM crashes on some words, so it runs in processes of their own."""
    if (target, wave) not in DISASSEMBLERS:
        DISASSEMBLERS[target, wave] = Disassembler(target, wave)
    disassembler = DISASSEMBLERS[target, wave]
    answers = []
    shared = mmap.mmap(-1, ROOM * CHUNK)
    while len(answers) < len(candidates):
        part = candidates[len(answers):len(answers) + CHUNK]
        for i in range(len(part)):
            shared[i * ROOM] = 0
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGSEGV, signal.SIG_DFL)
            for i, candidate in enumerate(part):
                answer = disassembler((*candidate, *padding))
                if answer is None:
                    shared[i * ROOM] = 255
                else:
                    text = answer[0].encode()[:ROOM - 2]
                    shared[i * ROOM + 1:i * ROOM + 2 + len(text)] = text + b"\0"
                    shared[i * ROOM] = answer[1]  # last: this says that there is one
            os._exit(0)
        os.waitpid(child, 0)
        for i in range(len(part)):
            at = i * ROOM
            length = shared[at]
            if length == 0:
                answers.append("crash")
                break
            if length == 255:
                answers.append(None)
            else:
                end = shared.find(b"\0", at + 1, at + ROOM)
                answers.append((shared[at + 1:end].decode(), length))
    return answers
