#include "tests/engine/cuda/fake/fiber.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace loom::cuda::emulator {
namespace {

constexpr std::size_t kPage = 4096;
#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t kStack = std::size_t{256} << 10;
#else
constexpr std::size_t kStack = std::size_t{64} << 10;
#endif

Fiber* running = nullptr;
void* caller = nullptr;  // where to leave to
#if defined(__SANITIZE_ADDRESS__)
void* callersFakeStack = nullptr;
const void* callersStack = nullptr;
std::size_t callersStackBytes = 0;
#endif

}  // namespace

#if defined(__x86_64__)
// Pushes what a function must preserve, exchanges the stacks, pops. swapcontext would ask the kernel each time.
extern "C" void loom_exchange_stacks(void** from, void* to);
asm(R"(
.text
.globl loom_exchange_stacks
.type loom_exchange_stacks,@function
loom_exchange_stacks:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp,(%rdi)
  movq %rsi,%rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size loom_exchange_stacks,.-loom_exchange_stacks
)");
#else
static void loom_exchange_stacks(void** from, void* to) {
  ucontext_t here;
  *from = &here;
  swapcontext(&here, static_cast<ucontext_t*>(to));
}
#endif

Fiber::Fiber() {
  void* const memory = mmap(nullptr, kStack + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  m_stack = static_cast<char*>(memory) + kPage;
  mprotect(memory, kPage, PROT_NONE);  // a kernel that overflows its stack ends here
}

Fiber::~Fiber() {
  munmap(m_stack - kPage, kStack + kPage);
}

void Fiber::begin(void (*function)()) {
  static void (*entry)();
  entry = function;
  void (*const start)() = [] {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(nullptr, &callersStack, &callersStackBytes);
#endif
    entry();
    std::abort();
  };
#if defined(__SANITIZE_ADDRESS__)
  // Of functions that were never returned from: they stand between where it was left and the top. All of a stack that
  // has not run yet, since others may have had its addresses.
  const char* const left = m_context ? static_cast<char*>(m_context) : m_stack;
  __asan_unpoison_memory_region(left, static_cast<std::size_t>(m_stack + kStack - left));
  m_sanitizer = nullptr;
#endif
#if defined(__x86_64__)
  auto** top = reinterpret_cast<void**>(m_stack + kStack - 64);
  *--top = nullptr;  // in the place of a return address
  *--top = reinterpret_cast<void*>(start);
  for (int registers = 0; registers < 6; ++registers) *--top = nullptr;
  m_context = top;
#else
  static_assert(sizeof(ucontext_t) < kStack / 4);
  auto* const context = new (m_stack) ucontext_t;
  getcontext(context);
  context->uc_stack.ss_sp = m_stack + kStack / 4;
  context->uc_stack.ss_size = kStack - kStack / 4;
  context->uc_link = nullptr;
  makecontext(context, start, 0);
  m_context = context;
#endif
  enter();
}

bool Fiber::isRunning() {
  return running != nullptr;
}

void Fiber::resume() {
  enter();
}

void Fiber::enter() {
  running = this;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&callersFakeStack, m_stack, kStack);
#endif
  loom_exchange_stacks(&caller, m_context);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(callersFakeStack, nullptr, nullptr);
#endif
  running = nullptr;
}

void Fiber::leave(bool forGood) {
  Fiber* const self = running;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(forGood ? nullptr : &self->m_sanitizer, callersStack, callersStackBytes);
#else
  (void)forGood;
#endif
  loom_exchange_stacks(&self->m_context, caller);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(self->m_sanitizer, &callersStack, &callersStackBytes);
#endif
}

}  // namespace loom::cuda::emulator
