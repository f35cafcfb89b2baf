// A module like loom_nccl.so with nothing behind it: one GPU, and ranks that are well until LOOM_HOLLOW says otherwise.
// What is asked of it is counted in the environment, which a module and a test share.
#include "tests/engine/comm/hollow_nccl.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "engine/comm/nccl_functions.h"

namespace {

constexpr int kRemoteError = 6;  // NCCL's ncclRemoteError

int s_group = 0;
HollowAborts s_aborts;

void count(const char* what) {
  const std::string name = std::string("LOOM_HOLLOW_") + what;
  const char* const before = std::getenv(name.c_str());
  ::setenv(name.c_str(), std::to_string((before != nullptr ? std::atoi(before) : 0) + 1).c_str(), 1);
}
bool isGone() {
  const char* const state = std::getenv("LOOM_HOLLOW");
  return state != nullptr && std::strcmp(state, "gone") == 0;
}

const LoomNcclFunctions kFunctions = {
    .version = kLoomNcclVersion,
    .library = [](int* version) { return *version = 22809, 0; },
    .explain =
        [](int code, void*, char* text, int room) {
          std::snprintf(text, static_cast<std::size_t>(room), "hollow error %d", code);
          return 0;
        },
    .devices = [](int* count) { return *count = 1, 0; },
    .describe =
        [](int, char* text, int room) {
          std::snprintf(text, static_cast<std::size_t>(room), "00 Hollow");
          return 0;
        },
    .newId = [](LoomNcclId*) { return 0; },
    .open = [](const LoomNcclId*, int, int, int, void** group) { return *group = &s_group, 0; },
    .split = [](void*, int, int, void** made) { return *made = &s_group, 0; },
    .rank = [](void*, int* rank) { return *rank = 0; },
    .size = [](void*, int* size) { return *size = 1, 0; },
    .release = [](void*) { return count("RELEASED"), 0; },
    .abort =
        [](void*) {
          ++s_aborts.begun;
          while (s_aborts.waits) std::this_thread::yield();
          ++s_aborts.ended;
          return 0;
        },
    .allocate = [](void*, size_t, void**) { return 0; },
    .deallocate = [](void*, void*) { return 0; },
    .isOnDevice = [](const void*, int* yes) { return *yes = 1, 0; },
    .copy = [](void*, void*, const void*, size_t) { return 0; },
    .begin = [](void*, loom::RankExchange::Kind, int, const loom::RankExchange::Part*, size_t,
                void*) { return count("BEGUN"), 0; },
    .allToAll = [](void*, const void*, void*, size_t) { return 0; },
    .state = [](void*) { return isGone() ? kRemoteError : 0; },
    .test = [](void*, int* done) { return *done = 1, isGone() ? kRemoteError : 0; },
};

}  // namespace

extern "C" __attribute__((visibility("default"))) HollowAborts* hollowAborts() {
  return &s_aborts;
}
extern "C" __attribute__((visibility("default"))) const LoomNcclFunctions* loomNcclFunctions() {
  return &kFunctions;
}
