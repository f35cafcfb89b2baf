// What nvcc made of our kernels: for which GPUs, and whether as many threads of each fit on one as hide the time that
// memory takes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/engine/cuda/module/device_code.h"

namespace loom::cuda {
namespace {

#ifdef GRADLOOM_CUDA_MODULE_FILE
const DeviceCode& code() {
  static const DeviceCode all = readDeviceCode(GRADLOOM_CUDA_MODULE_FILE);
  return all;
}
#endif

// These have several packs of 16 bytes under way in each thread, or tiles in registers: a quarter of a multiprocessor's
// threads suffices. Of
// all others half must fit, which is to say 64 registers each.
const std::set<std::string> kManyAtOnce = {
    "attentionForward",        "attentionToQueries",       "attentionToKeys",
    "batchGradient",           "batchGradientSums",        "normalise",
    "layerNormalizationWarps", "layerNormalizationBlocks", "layerGradientWarps",
    "layerGradientBlocks",     "softmaxGradient",          "measurePieces<loom::StillRule>"};  // the steps of two rules

// A thread for each sample of a batch, once a step: its window is an array that is indexed, and nothing of it is
// spilled.
const std::string kIndexesAnArray = "sampleWindows";

std::string withoutType(const std::string& name) {
  return name.substr(0, name.find('<'));
}

// "softmax<float>" of a kernel's whole name.
std::string shortName(const std::string& name) {
  const std::size_t begin = name.find("loom::cuda::");
  return begin == std::string::npos ? name : name.substr(begin + 12, name.find('(', begin) - begin - 12);
}

TEST(CudaResources, TheModuleHasCodeForTheseDevicesAndPtxForLaterOnes) {
#ifndef GRADLOOM_CUDA_MODULE_FILE
  GTEST_SKIP() << "the CUDA toolkit or cuDNN is not here: the module is not built";
#else
  EXPECT_EQ(code().machineCode, (std::set{80, 90}));
  EXPECT_EQ(code().ptx, (std::set{90}));
  std::map<std::string, std::set<int>> architectures;
  for (const CompiledKernel& kernel : code().kernels) architectures[kernel.name].insert(kernel.architecture);
  EXPECT_GT(architectures.size(), 100U);
  for (const auto& [name, found] : architectures) EXPECT_EQ(found, code().machineCode) << name;
#endif
}

TEST(CudaResources, NoKernelSpillsAndEnoughThreadsOfEachStandByAtOnce) {
#ifndef GRADLOOM_CUDA_MODULE_FILE
  GTEST_SKIP() << "the CUDA toolkit or cuDNN is not here: the module is not built";
#else
  for (const CompiledKernel& kernel : code().kernels) {
    SCOPED_TRACE(fmt::format("{} for sm_{}: {} registers, {} bytes of stack, {} of shared memory, blocks of at most {}",
                             shortName(kernel.name), kernel.architecture, kernel.registers, kernel.stackBytes,
                             kernel.sharedBytes, kernel.mostThreads));
    EXPECT_GT(kernel.registers, 0);
    EXPECT_LE(kernel.sharedBytes, 48 << 10);
    ASSERT_GT(kernel.mostThreads, 0) << "__launch_bounds__ tells ptxas how many registers there are";
    const std::string name = shortName(kernel.name);
    EXPECT_EQ(name == kIndexesAnArray ? 0 : kernel.stackBytes, 0);
    EXPECT_GE(kernel.threadsAtOnce(kernel.mostThreads),
              kManyAtOnce.contains(withoutType(name)) || kManyAtOnce.contains(name) ? 512 : 1024);
  }
#endif
}

}  // namespace
}  // namespace loom::cuda
