#pragma once
// Failures of the vendors' libraries, in their own words, up to the table's functions.
#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>

#include <exception>
#include <stdexcept>
#include <string>

namespace loom::cuda::module {

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// `asked`: "cudaMalloc of 4096 bytes".
inline void check(cudaError_t code, const std::string& asked) {
  if (code == cudaSuccess) return;
  cudaGetLastError();  // it is told here, and not again to whoever asks next
  throw Failure(asked + ": " + cudaGetErrorName(code) + ", " + cudaGetErrorString(code));
}
inline void check(cublasStatus_t code, const std::string& asked) {
  if (code != CUBLAS_STATUS_SUCCESS)
    throw Failure(asked + ": " + cublasLtGetStatusName(code) + ", " + cublasLtGetStatusString(code));
}
inline void check(cudnnStatus_t code, const std::string& asked) {
  if (code == CUDNN_STATUS_SUCCESS) return;
  char more[1024] = "";
  cudnnGetLastErrorString(more, sizeof(more));
  throw Failure(asked + ": " + cudnnGetErrorString(code) + (*more ? ", " : "") + more);
}

std::string& lastWords();  // of the calling thread

// What a function of the table answers.
template <class Work>
int guarded(const Work& work) noexcept {
  try {
    work();
    return 0;
  } catch (const std::exception& error) {
    lastWords() = error.what();
    return 1;
  }
}

}  // namespace loom::cuda::module
