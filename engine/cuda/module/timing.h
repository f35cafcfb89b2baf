#pragma once
// How long work takes on a device that does nothing else for this process meanwhile.
#include <algorithm>

#include "engine/cuda/module/failure.h"

namespace loom::cuda::module {

// Memory for a trial, full of small finite numbers in every type.
class TrialMemory {
 public:
  // Filled in the stream that will use it: the one that CUDA has by itself is in no order with that.
  TrialMemory(std::size_t bytes, cudaStream_t stream) {
    check(cudaMalloc(&m_at, std::max<std::size_t>(bytes, 1)),
          "cudaMalloc of " + std::to_string(bytes) + " bytes to time an engine");
    constexpr int kPattern = 0x2c;  // f32 2.4e-12, bf16 the same, f16 0.065
    if (const cudaError_t code = cudaMemsetAsync(m_at, kPattern, bytes, stream); code != cudaSuccess) {
      cudaFree(m_at);
      check(code, "cudaMemsetAsync of " + std::to_string(bytes) + " bytes to time an engine");
    }
  }
  ~TrialMemory() { cudaFree(m_at); }
  TrialMemory(const TrialMemory&) = delete;
  TrialMemory& operator=(const TrialMemory&) = delete;
  void* get() const { return m_at; }

 private:
  void* m_at = nullptr;
};

class TimedEvent {
 public:
  TimedEvent() { check(cudaEventCreate(&m_event), "cudaEventCreate"); }
  ~TimedEvent() { cudaEventDestroy(m_event); }
  TimedEvent(const TimedEvent&) = delete;
  TimedEvent& operator=(const TimedEvent&) = delete;
  cudaEvent_t get() const { return m_event; }

 private:
  cudaEvent_t m_event = nullptr;
};

// The least of three means over a few runs, after a first that loads what is loaded lazily.
template <class Work>
double secondsOf(cudaStream_t stream, const Work& work) {
  constexpr int kTrials = 3, kRuns = 4;
  const TimedEvent begin, end;
  work();
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize after an engine's first run");
  float best = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    check(cudaEventRecord(begin.get(), stream), "cudaEventRecord");
    for (int k = 0; k < kRuns; ++k) work();
    check(cudaEventRecord(end.get(), stream), "cudaEventRecord");
    check(cudaEventSynchronize(end.get()), "cudaEventSynchronize after an engine's runs");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()), "cudaEventElapsedTime");
    best = trial == 0 ? milliseconds : std::min(best, milliseconds);
  }
  return double{best} * 1e-3 / kRuns;
}

}  // namespace loom::cuda::module
