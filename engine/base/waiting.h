#pragma once
// Waiting for what another process or a device does: asked again and again, for some 30 us without a pause and then
// with sleeps between, so that a rank that waits leaves its core to one that computes.
#include <sys/prctl.h>

#include <chrono>
#include <thread>

namespace loom {

template <class Done>
void waitFor(const Done& done) {
  constexpr auto kSpin = std::chrono::microseconds(30);
  constexpr auto kShortSleep = std::chrono::microseconds(20), kLongSleep = std::chrono::microseconds(200);
  constexpr int kShortSleeps = 200;
  thread_local const bool slack =
      ::prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL) == 0;  // sleeps as short as asked for
  (void)slack;
  const auto spinning = std::chrono::steady_clock::now() + kSpin;
  for (int sleeps = 0; !done();) {
    if (std::chrono::steady_clock::now() < spinning) continue;
    std::this_thread::sleep_for(sleeps++ < kShortSleeps ? kShortSleep : kLongSleep);
  }
}

}  // namespace loom
