#pragma once
// Functions that can be left in their midst and entered again.
#include <cstddef>

namespace loom::cuda::emulator {

// A stack, and where on it to go on.
class Fiber {
 public:
  Fiber();
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Calls `function` on this stack from its beginning, whatever ran here before; returns at the first leave(). The
  // function must not return and must not throw.
  void begin(void (*function)());
  void resume();  // behind the last leave()
  // On the fiber that runs: back to where it was begun or resumed. `forGood`: it will never be resumed.
  static void leave(bool forGood);
  static bool isRunning();  // whether one does

 private:
  void enter();

  char* m_stack = nullptr;
  void* m_context = nullptr;  // the registers, of the fiber while it is left
  void* m_sanitizer = nullptr;
};

}  // namespace loom::cuda::emulator
