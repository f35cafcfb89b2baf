// The program `loom`: arguments in, an exit code out. What it does stands in the rooms it links.
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>

#include "engine/loom/verbs.h"

namespace {

std::atomic<bool> stopWanted{false};

// The first signal asks for a checkpoint and an orderly end; a second one ends the process at once.
void askToStop(int number) {
  stopWanted.store(true, std::memory_order_relaxed);
  std::signal(number, SIG_DFL);
}

// OpenMP's threads wait by spinning for milliseconds unless told otherwise, which makes every other program on the
// machine slow and training itself slower beside them (reference: a barrier of 2 ms under load instead of 0.02).
// libgomp reads its settings before main() begins, hence the program starts itself once more with the setting made.
void waitGently(char** arguments) {
  constexpr int kKeep = 0;
  if (std::getenv("GOMP_SPINCOUNT") || std::getenv("OMP_WAIT_POLICY")) return;
  ::setenv("GOMP_SPINCOUNT", "10000", kKeep);
  ::execv("/proc/self/exe", arguments);  // only returns when it cannot: then training is merely a worse neighbour
}

}  // namespace

int main(int count, char** arguments) {
  waitGently(arguments);
  ::setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 0);  // GPUs are counted as `nvidia-smi` does, on all ranks alike
  struct sigaction action {};
  action.sa_handler = askToStop;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);  // a reader that went away (`loom ... | head`) must not end a training
  std::signal(SIGXFSZ, SIG_IGN);  // a file at its size limit is an error of write(), told as any other
  return loom::runLoom(count, arguments, stopWanted);
}
