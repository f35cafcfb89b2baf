// Every rank runs every test; rank 0 reports. A failure on any rank fails the job: each ends with its own verdict.
#include <gtest/gtest.h>

#include <cstdlib>

#include "engine/base/error.h"
#include "engine/comm/open_mpi.h"
#include "tests/engine/ranks/ranks.h"

namespace loom {
namespace {

Communicator* group = nullptr;

}  // namespace

Communicator& world() {
  return *group;
}

}  // namespace loom

int main(int count, char** arguments) {
  const loom::Launch launch = loom::launchOfEnvironment();
  const char* wanted = std::getenv("GRADLOOM_EXPECTED_RANKS");
  try {
    const auto communicator = loom::openMpi(launch);
    loom::group = communicator.get();
    if (!wanted || communicator->size() != std::atoi(wanted)) {
      std::fprintf(stderr, "%d ranks were started, but GRADLOOM_EXPECTED_RANKS says %s\n", communicator->size(),
                   wanted ? wanted : "nothing");
      communicator->abort(2);
    }
    if (communicator->rank() > 0) {  // keeps its failures' text; the report is rank 0's
      for (int i = 1; i < count; ++i)
        if (std::string_view(arguments[i]).starts_with("--gtest_output"))
          arguments[i] = const_cast<char*>("--gtest_brief=1");
    }
    testing::InitGoogleTest(&count, arguments);
    const int verdict = RUN_ALL_TESTS();
    if (verdict != 0) communicator->abort(verdict);  // others may wait for this rank in a collective
    return 0;
  } catch (const loom::Error& error) {
    std::fprintf(stderr, "rank %d: %s\n", launch.rank, error.what());
    return 1;
  }
}
