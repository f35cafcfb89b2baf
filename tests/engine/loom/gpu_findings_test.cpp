#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "engine/base/files.h"
#include "engine/loom/gpu_facts.h"

namespace loom {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// A machine on which all is well.
GpuFacts sound() {
  return {
      .onBus = 1,
      .driver = true,
      .driverStarts = true,
      .driverVersion = 13000,
      .driverRelease = "580.65.06",
      .gpus =
          {{.name = "NVIDIA H200", .bytes = 150121545728, .capability = 90, .pci = "0000:3b:00.0", .cores = "0-31"}},
      .modulePath = "/opt/gradloom/lib/loom_cuda.so",
      .moduleThere = true,
      .moduleLibraries = "CUDA 13.0, cuDNN 9.19.0, cuBLASLt 13.1.0",
      .cudnnMajor = 9,
      .cudnnVersion = "9.19.0"};
}

Finding findingOf(const GpuFacts& facts, const std::string& key) {
  for (const Finding& one : judgeGpus(facts))
    if (one.key == key) return one;
  return {};
}

TEST(GpuFindings, TellGpusDriverAndVersions) {
  for (const Finding& one : judgeGpus(sound())) EXPECT_THAT(one.advice, IsEmpty()) << one.key;
  EXPECT_EQ(findingOf(sound(), "cuda driver").value, "580.65.06, CUDA 13.0, 1 GPU");
  EXPECT_EQ(findingOf(sound(), "gpu 0").value,
            "NVIDIA H200, 140 GB, compute capability 9.0, at 0000:3b:00.0, beside cores 0-31");
  EXPECT_EQ(findingOf(sound(), "cuda module").value, "CUDA 13.0, cuDNN 9.19.0, cuBLASLt 13.1.0");
  EXPECT_EQ(findingOf(sound(), "cudnn").value, "9.19.0");
}

TEST(GpuFindings, AMachineWithoutAGpuLacksNothing) {
  const GpuFacts none{.modulePath = "/opt/gradloom/lib/loom_cuda.so"};
  for (const Finding& one : judgeGpus(none)) EXPECT_THAT(one.advice, IsEmpty()) << one.key;
  EXPECT_EQ(findingOf(none, "cuda driver").value, "not found");
  EXPECT_EQ(findingOf(none, "cuda module").value, "not here");
}

struct Trouble {
  void (*makes)(GpuFacts&);
  const char *key, *advice;
};
const Trouble kTroubles[] = {
    {[](GpuFacts& f) { f.driver = f.driverStarts = false, f.gpus.clear(); }, "cuda driver", "without NVIDIA's driver"},
    {[](GpuFacts& f) { f.driverStarts = false, f.gpus.clear(); }, "cuda driver", "wants a restart"},
    {[](GpuFacts& f) { f.gpus.clear(); }, "cuda driver", "none of the 1 GPUs on the bus"},
    {[](GpuFacts& f) { f.gpus.clear(), f.visible = "7"; }, "cuda driver", "CUDA_VISIBLE_DEVICES is '7'"},
    {[](GpuFacts& f) { f.driverVersion = 12040; }, "cuda driver",
     "it knows CUDA 12.4, but the CUDA module is made with 13.0"},
    {[](GpuFacts& f) { f.gpus[0].fault = "it does not compute"; }, "gpu 0", "it does not compute"},
    {[](GpuFacts& f) { f.gpus[0].capability = 75; }, "gpu 0", "needs compute capability 8.0"},
    {[](GpuFacts& f) { f.moduleThere = false, f.moduleLibraries.clear(); }, "cuda module",
     "/opt/gradloom/lib/loom_cuda.so"},
    {[](GpuFacts& f) {
       f.moduleFault = "libcublasLt.so.13: cannot open shared object file", f.moduleLibraries.clear();
     },
     "cuda module", "libcublasLt.so.13"},
    {[](GpuFacts& f) { f.cudnnMajor = 0; }, "cudnn", "need cuDNN 9"},
    {[](GpuFacts& f) { f.cudnnMajor = 8, f.cudnnVersion = "8.9.7"; }, "cudnn", "cuDNN 8 is here, but 9 is needed"},
};

TEST(GpuFindings, EachThatDoesNotFitIsNamedWithARemedy) {
  for (const Trouble& trouble : kTroubles) {
    GpuFacts facts = sound();
    trouble.makes(facts);
    int faults = 0;
    for (const Finding& one : judgeGpus(facts)) {
      if (one.advice.empty()) continue;
      ++faults;
      EXPECT_EQ(one.key, trouble.key);
      EXPECT_THAT(one.advice, HasSubstr(trouble.advice));
      if (one.key != "gpu 0") {
        EXPECT_THAT(one.remedy, Not(IsEmpty())) << trouble.advice;
      }
    }
    EXPECT_EQ(faults, 1) << trouble.advice;
  }
}

TEST(GpuFindings, ADriverOfALaterReleaseIsFine) {
  GpuFacts facts = sound();
  facts.driverVersion = 14010;
  EXPECT_THAT(findingOf(facts, "cuda driver").advice, IsEmpty());
  facts.moduleLibraries = "something else";
  EXPECT_THAT(findingOf(facts, "cuda driver").advice, IsEmpty());
}

TEST(GpusOnBus, AreThoseOfNvidiaThatAreNoSoundCards) {
  const auto sysfs = std::filesystem::temp_directory_path() / ("bus-" + std::to_string(::getpid()));
  const auto put = [&](const std::string& device, const char* vendor, const char* kind) {
    const auto folder = sysfs / "bus/pci/devices" / device;
    std::filesystem::create_directories(folder);
    writeFileAtomically(folder / "vendor", vendor);
    writeFileAtomically(folder / "class", kind);
  };
  EXPECT_EQ(gpusOnBus(sysfs), 0);
  put("0000:3b:00.0", "0x10de\n", "0x030200\n");
  put("0000:3b:00.1", "0x10de\n", "0x040300\n");
  put("0000:00:02.0", "0x8086\n", "0x030000\n");
  put("0000:d8:00.0", "0x10de\n", "0x030000\n");
  EXPECT_EQ(gpusOnBus(sysfs), 2);
  std::filesystem::remove_all(sysfs);
}

}  // namespace
}  // namespace loom
