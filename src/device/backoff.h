#pragma once

#include <algorithm>
#include <chrono>
#if !defined(__wasi__)
#include <thread>
#endif

namespace wavegate::device {

/// How long a host may sleep that has already waited for so long: little against what it waits for, and not forever.
constexpr std::chrono::microseconds nap_after(std::chrono::microseconds waited) {
  return std::clamp(waited / 32, std::chrono::microseconds(20), std::chrono::microseconds(2000));
}

/// Tells the processor that the loop around only waits.
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// What the host does between two queries of the device. It spins, since a device that runs dry costs more than a busy
/// core; but where the device is a CPU, spinning would take from the device, and it sleeps.
class Backoff {
 public:
  explicit Backoff(bool device_is_cpu) : sleeps_(device_is_cpu) {}

  /// Another wait begins.
  void restart() { began_ = Clock::now(); }

  void pause() const {
#if !defined(__wasi__)  // there are no threads, and nobody waits
    if (sleeps_)
      std::this_thread::sleep_for(
          nap_after(std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - began_)));
    else
#endif
      relax();
  }

 private:
  using Clock = std::chrono::steady_clock;
  [[maybe_unused]] bool sleeps_;
  Clock::time_point began_ = Clock::now();
};

}  // namespace wavegate::device
