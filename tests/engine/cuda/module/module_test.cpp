// What a person is told where the CUDA module, its libraries, a driver or a GPU are missing. What a GPU computes is
// tested in tests/gpu.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "engine/base/error.h"
#include "engine/cuda/module_device.h"

namespace loom::cuda {
namespace {

using testing::HasSubstr;

class CudaModule : public testing::Test {
 protected:
  ~CudaModule() override { ::unsetenv("GRADLOOM_CUDA_MODULE"); }
  static void use(const char* path) { ::setenv("GRADLOOM_CUDA_MODULE", path, 1); }
  // What opening a device says. Empty where there is one.
  static std::string refusal() {
    try {
      openCudaDevice();
      return "";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::device);
      return error.what();
    }
  }
};

TEST_F(CudaModule, ThatIsMissingIsToldWithTheRemedy) {
  use("/nowhere/loom_cuda.so");
  const std::string text = refusal();
  EXPECT_THAT(text, HasSubstr("/nowhere/loom_cuda.so"));
  EXPECT_THAT(text, HasSubstr("Install the NVIDIA driver with cuBLAS and cuDNN 9"));
  EXPECT_THAT(text, HasSubstr("GRADLOOM_CUDA_MODULE"));
  EXPECT_THAT(text, HasSubstr("--device cpu"));
}

TEST_F(CudaModule, ThatIsNoneIsRefused) {
  use("libm.so.6");
  EXPECT_EQ(refusal(), "libm.so.6 is not the CUDA module of this version of Gradloom");
}

#ifdef GRADLOOM_CUDA_MODULE_FILE
TEST_F(CudaModule, LoadsAndNamesItsLibraries) {
  use(GRADLOOM_CUDA_MODULE_FILE);
  EXPECT_THAT(cudaLibraries(), testing::MatchesRegex("CUDA [0-9.]+, cuDNN [0-9.]+, cuBLASLt [0-9.]+"));
}

TEST_F(CudaModule, SaysWhyThereIsNoGpuOrOpensIt) {
  use(GRADLOOM_CUDA_MODULE_FILE);
  const std::string text = refusal();
  if (text.empty()) {
    EXPECT_GT(openCudaDevice()->facts().memoryBytes, 0U);
    return;
  }
  EXPECT_THAT(text, HasSubstr("GPU"));
  EXPECT_THAT(text, HasSubstr("--device cpu trains on the processor"));
  EXPECT_THAT(text, testing::AnyOf(HasSubstr("this machine has no GPU that CUDA can use"),
                                   HasSubstr("cudaGetDeviceCount: cudaError")));
}
#endif

}  // namespace
}  // namespace loom::cuda
