// Libraries are asked through the system's loader, as a run would find them: the program is linked to none of them.
#include <fmt/format.h>

#include "engine/loom/findings.h"
#include "engine/loom/gpu_facts.h"
#include "engine/loom/shared_library.h"

namespace loom {

std::vector<Finding> examineLibraries() {
  std::vector<Finding> findings = judgeGpus(gpuFacts());
  const SharedLibrary nccl{"libnccl.so.2"}, mpi{"libmpi.so.40", "libmpi.so.12", "libmpi.so"};
  const auto add = [&findings](const char* key, const SharedLibrary& library, const std::string& version) {
    findings.push_back({key, !library ? "not found" : version.empty() ? library.name() : version, {}});
  };
  int version = 0;
  auto* const ncclVersion = nccl.function<int(int*)>("ncclGetVersion");
  const bool known = ncclVersion && ncclVersion(&version) == 0;
  add("nccl", nccl, known ? fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100) : "");
  // MPI may be asked for its version before it is begun (MPI 3.1, 8.7.1); MPICH answers with up to 8192 characters.
  std::string text(8192, '\0');
  int length = 0;
  auto* const mpiVersion = mpi.function<int(char*, int*)>("MPI_Get_library_version");
  if (!mpiVersion || mpiVersion(text.data(), &length) != 0) text.clear();
  add("mpi", mpi, text.substr(0, text.find_first_of(std::string_view(",\n\0", 3))));
  return findings;
}

}  // namespace loom
