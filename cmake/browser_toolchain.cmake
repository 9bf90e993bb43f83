# C++ to wasm for browsers and Node, with Debian's clang and wasi-libc (packages.txt, kind web).
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(WAVEGATE_BROWSER ON)

set(CMAKE_C_COMPILER clang-19)
set(CMAKE_CXX_COMPILER clang++-19)
set(CMAKE_AR llvm-ar-19)
set(CMAKE_RANLIB llvm-ranlib-19)
set(CMAKE_C_COMPILER_TARGET wasm32-wasi)
set(CMAKE_CXX_COMPILER_TARGET wasm32-wasi)
# A test program would need the functions that a page supplies.
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
# There is no unwinder: what is thrown ends the program, and the package says so.
set(CMAKE_CXX_FLAGS_INIT "-fignore-exceptions")
