#include "engine/data/mapping.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <mutex>

#include "engine/base/error.h"
#include "engine/base/files.h"

namespace loom {
namespace {

// What the signal handler may look at: plain atomics that exist before and after every mapping. A process opens a
// handful of datasets; those beyond the table lose the guard and keep the check of the file's size.
struct WatchedRange {
  std::atomic<std::uintptr_t> begin{0}, end{0};
  std::atomic<bool> damaged{false};
};
constexpr int kWatchedRanges = 256;
WatchedRange slots[kWatchedRanges];
std::mutex slotsMutex;
struct sigaction previousAction;
long pageSize = 4096;

void onBusError(int signal, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  for (WatchedRange& slot : slots) {
    const std::uintptr_t begin = slot.begin.load(std::memory_order_acquire),
                         end = slot.end.load(std::memory_order_acquire);
    if (begin == 0 || address < begin || address >= end) continue;
    const int number = errno;
    const std::uintptr_t page = address & ~(static_cast<std::uintptr_t>(pageSize) - 1);
    void* const zeros = ::mmap(reinterpret_cast<void*>(page), static_cast<std::size_t>(pageSize), PROT_READ,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    errno = number;
    if (zeros == MAP_FAILED) break;
    slot.damaged.store(true, std::memory_order_release);
    return;
  }
  // Not ours: as if this handler were not here.
  if (previousAction.sa_flags & SA_SIGINFO) {
    if (previousAction.sa_sigaction) return previousAction.sa_sigaction(signal, info, context);
  } else if (previousAction.sa_handler != SIG_DFL && previousAction.sa_handler != SIG_IGN) {
    return previousAction.sa_handler(signal);
  }
  ::signal(signal, SIG_DFL);  // the access is tried again when the handler returns, and ends the process
}

void installOnce() {
  static std::once_flag once;
  std::call_once(once, [] {
    pageSize = ::sysconf(_SC_PAGESIZE);
    struct sigaction action {};
    action.sa_sigaction = onBusError;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    ::sigaction(SIGBUS, &action, &previousAction);
  });
}

}  // namespace

GuardedMapping::GuardedMapping(const std::filesystem::path& path) {
  m_file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (m_file < 0) throwErrno(errno, "read", path);
  struct stat status {};
  if (::fstat(m_file, &status) != 0 || !S_ISREG(status.st_mode)) {
    const int number = S_ISREG(status.st_mode) ? errno : EINVAL;
    ::close(m_file);
    throwErrno(number, "read", path);
  }
  m_size = static_cast<std::size_t>(status.st_size);
  if (m_size == 0) return;
  installOnce();
  void* const data = ::mmap(nullptr, m_size, PROT_READ, MAP_SHARED, m_file, 0);
  if (data == MAP_FAILED) {
    const int number = errno;
    ::close(m_file);
    throwErrno(number, "map", path);
  }
  m_data = static_cast<const std::byte*>(data);
  const std::lock_guard lock(slotsMutex);
  for (int i = 0; i < kWatchedRanges; ++i) {
    if (slots[i].begin.load() != 0) continue;
    m_slot = i;
    slots[i].damaged = false;
    slots[i].end = reinterpret_cast<std::uintptr_t>(data) + m_size;
    slots[i].begin = reinterpret_cast<std::uintptr_t>(data);
    break;
  }
}

GuardedMapping::~GuardedMapping() {
  if (m_slot >= 0) {
    const std::lock_guard lock(slotsMutex);
    slots[m_slot].begin = 0;
    slots[m_slot].end = 0;
  }
  if (m_data) ::munmap(const_cast<std::byte*>(m_data), m_size);
  if (m_file >= 0) ::close(m_file);
}

bool GuardedMapping::damaged() const {
  if (m_slot >= 0 && slots[m_slot].damaged.load(std::memory_order_acquire)) return true;
  struct stat status {};
  return ::fstat(m_file, &status) != 0 || static_cast<std::size_t>(status.st_size) < m_size;
}

}  // namespace loom
