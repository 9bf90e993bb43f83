"""Compiled AMD kernels on NumPy arrays, without an AMD GPU.

    import numpy as np
    import wavegate

    saxpy = wavegate.load("saxpy.hsaco")["saxpy"]
    x, y = np.arange(1000, dtype=np.float32), np.ones(1000, dtype=np.float32)
    saxpy(1000, 256, 1000, 2.0, x, y)  # work-items, those of a group, then the kernel's arguments

A kernel runs on the CPU, exactly, a whole wave at a time; y holds the result afterwards. What it should not have done
is an exception: FindingError. docs/amd.md says what is exact and what is missing.
"""

try:
    import numpy as _numpy  # noqa: F401
except ImportError as error:
    raise ImportError("wavegate runs kernels on NumPy arrays, but there is no NumPy (Debian's package is "
                      "python3-numpy, pip's numpy)") from error

from .errors import (ArgumentError, DeviceError, Error, FindingError, InternalError, InvalidInputError,
                     UnsupportedError)
from .kernels import Argument, Kernel, Module, load
from .report import Finding, Report

__all__ = ["Argument", "ArgumentError", "DeviceError", "Error", "Finding", "FindingError", "InternalError",
           "InvalidInputError", "Kernel", "Module", "Report", "UnsupportedError", "load"]
