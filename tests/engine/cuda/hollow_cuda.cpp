// A module like loom_cuda.so with nothing behind it, for what ModuleDevice does with one. What is asked of it is
// counted in the environment, which a module and a test share; LOOM_HOLLOW_DONE_AT says at which query all is done,
// LOOM_HOLLOW_LOST that waiting for a stream fails.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "engine/cuda/calls.h"
#include "engine/cuda/functions.h"

namespace {

int s_something = 0;

int count(const char* what) {
  const std::string name = std::string("LOOM_HOLLOW_") + what;
  const char* const before = std::getenv(name.c_str());
  const int now = (before != nullptr ? std::atoi(before) : 0) + 1;
  ::setenv(name.c_str(), std::to_string(now).c_str(), 1);
  return now;
}

const LoomCudaFunctions kFunctions = {
    .version = kLoomCudaVersion,
    .words = [](char* text, int room) { std::snprintf(text, static_cast<std::size_t>(room), "hollow"); },
    .libraries = [](char* text, int room) { std::snprintf(text, static_cast<std::size_t>(room), "hollow"); },
    .devices = [](int* count) { return *count = 1, 0; },
    .open = [](int, void** device) { return *device = &s_something, 0; },
    .close = [](void*) { return 0; },
    .facts =
        [](void*, LoomDeviceFacts* facts) {
          std::snprintf(facts->name, sizeof(facts->name), "Hollow");
          return 0;
        },
    .launch = [](void*, int, const char*, const loom::cuda::Launch*, const void*,
                 size_t) { return count("LAUNCHES"), 0; },
    .multiply = [](void*, int, const loom::cuda::MatmulCall*, int) { return count("PRODUCTS"), 0; },
    // None with a bias or a ReLU.
    .productEngines =
        [](void*, const loom::cuda::MatmulCall* call, int, LoomProductEngine* found, int* count) {
          if (call->epilogue != loom::cuda::MatmulCall::Epilogue::none) return 1;
          std::snprintf(found->name, sizeof(found->name), "hollow");
          return *count = 1, 0;
        },
    .plan = [](void*, const char*, const LoomDnnGraph*, size_t, int, int, LoomDnnPlan*, int*) { return 1; },
    .makeEvent = [](void*, void** event) { return *event = &s_something, 0; },
    .releaseEvent = [](void*, void*) { return 0; },
    .record = [](void*, int, void*) { return 0; },
    .synchroniseEvent = [](void*, void*) { return count("WAITS"), 0; },
    .synchroniseStream = [](void*, int) { return count("WAITS"), std::getenv("LOOM_HOLLOW_LOST") != nullptr ? 1 : 0; },
    .query =
        [](void*, int, void*, int* done) {
          const char* const at = std::getenv("LOOM_HOLLOW_DONE_AT");
          return *done = at != nullptr && count("QUERIES") >= std::atoi(at), 0;
        },
    .beginCapture = [](void*, int) { return 0; },
    .endCapture = [](void*, int, void** graph) { return *graph = &s_something, 0; },
    .releaseGraph = [](void*, void*) { return 0; },
    .streamHandle = [](void*, int, void** handle) { return *handle = &s_something, 0; },
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const LoomCudaFunctions* loomCudaFunctions() {
  return &kFunctions;
}
