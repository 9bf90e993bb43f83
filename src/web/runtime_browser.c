// What the compiler's own code refers to and Debian's libraries for wasm do not have. Both end the program: the page then
// tells that the engine stopped.
#include <stddef.h>
#include <stdint.h>

/// The guard of the stack's end.
uintptr_t __stack_chk_guard = 0x57a7e61d;

_Noreturn void __stack_chk_fail(void) {
  __builtin_trap();
}

/// There is no unwinder. What throws is the standard library, for want of memory.
_Noreturn void* __cxa_allocate_exception(size_t size) {
  (void)size;
  __builtin_trap();
}

_Noreturn void __cxa_throw(void* exception, void* type, void (*destroy)(void*)) {
  (void)exception;
  (void)type;
  (void)destroy;
  __builtin_trap();
}
