// What the compiler's own code refers to and wasi-libc of Debian does not have: the guard of the stack's end.
#include <stdint.h>

uintptr_t __stack_chk_guard = 0x57a7e61d;

_Noreturn void __stack_chk_fail(void) {
  __builtin_trap();
}
