// Every graph for cuDNN that the op cases ask for, put before cuDNN itself as for an H200 that is not there: it must
// have an engine for each that computes as asked. Engines that are compiled when they are asked for need a driver and
// count as refused here, so what the lowerings do then is tried as well.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "engine/base/error.h"
#include "engine/cuda/cuda_backend.h"
#include "engine/cuda/module_device.h"
#include "tests/engine/ops/op_cases.h"

namespace loom::cuda {
namespace {

// As cuDNN writes them (CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION); known, not measured.
constexpr const char* kH200 =
    R"({"deviceVer": 900, "multiProcessorCount": 132, "warpSize": 32, "maxSharedMemoryPerBlock": 49152,
        "maxSharedMemoryPerBlockOptin": 232448, "reservedSharedMemoryPerBlock": 1024, "maxRegistersPerSM": 65536,
        "maxCtasPerSM": 32, "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048, "regsPerBlock": 65536,
        "totalGlobalMem": 150121545728, "smClockRateKHz": 1980000, "l2CacheSize": 62914560,
        "maxBlockSize": [1024, 1024, 64], "memClockRateKHz": 3201000, "maxGridSize": [2147483647, 65535, 65535],
        "supportCoopLaunch": 1, "pciDeviceId": 0, "isTccDriver": 0, "cudaDeviceId": 0, "driverVer": 13000,
        "deviceName": "NVIDIA H200"})";

// Plans graphs; has no memory and runs nothing.
class Planner final : public Device {
 public:
  int planned = 0, refused = 0;
  std::set<DataType> convolvedIn;

  std::shared_ptr<const DnnPlan> plan(const DnnGraph& graph, std::size_t workspaceLimit) override {
    try {
      auto made = planWithoutDevice(kH200, graph, workspaceLimit);
      EXPECT_THAT(made->name, testing::StartsWith("engine "));
      EXPECT_LE(made->workspaceBytes, workspaceLimit);
      convolvedIn.insert(graph.tensors[0].type);
      ++planned;
      return made;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::device);
      EXPECT_THAT(error.what(), testing::HasSubstr("no engine computes it"));
      ++refused;
      throw;
    }
  }

  DeviceFacts facts() const override { return {"NVIDIA H200", 90, 132, 150121545728, 150121545728}; }
  std::byte* allocate(std::size_t, std::string_view) override { none(); }
  void release(std::byte*) noexcept override {}
  std::byte* allocatePinned(std::size_t) override { none(); }
  void releasePinned(std::byte*) noexcept override {}
  void enqueue(Stream, const Call&, std::span<const Access>, std::string_view) override { none(); }
  void upload(Stream, const std::byte*, std::byte*, std::size_t) override { none(); }
  void download(Stream, const std::byte*, std::byte*, std::size_t) override { none(); }
  std::unique_ptr<Event> makeEvent() override { none(); }
  void record(Stream, Event&) override { none(); }
  void wait(Stream, const Event&) override { none(); }
  void synchronise(const Event&) override { none(); }
  void synchronise(Stream) override { none(); }
  void beginCapture(Stream) override { none(); }
  std::unique_ptr<Graph> endCapture(Stream) override { none(); }
  void launch(const Graph&, Stream) override { none(); }

 private:
  [[noreturn]] static void none() { throwError(ErrorCode::internal, "there is no device"); }
};

TEST(CudaGraphs, OfAllConvolutionsHaveAnEngineOnAnH200) {
#ifndef GRADLOOM_CUDA_MODULE_FILE
  GTEST_SKIP() << "the CUDA toolkit or cuDNN is not here: the module is not built";
#else
  ::setenv("GRADLOOM_CUDA_MODULE", GRADLOOM_CUDA_MODULE_FILE, 1);
  const auto planner = std::make_shared<Planner>();
  const auto backend = makeCudaBackend(planner);
  int cases = 0;
  for (const cases::OpCase& opCase : cases::opCases()) {
    if (!opCase.op.starts_with("convolution")) continue;
    ++cases;
    for (const DataType precision : {DataType::f32, DataType::bf16, DataType::f16}) {
      SCOPED_TRACE(opCase.name + " in " + std::string(toString(precision)));
      const int before = planner->planned;
      try {
        backend->measure(cases::programOf(opCase, true), {.precision = precision});
      } catch (const Error& error) {
        ADD_FAILURE() << error.what();
      }
      EXPECT_EQ(planner->planned, before + 3) << "forward, input gradient, weight gradient";
    }
  }
  EXPECT_GT(cases, 10);
  EXPECT_EQ(planner->convolvedIn, (std::set{DataType::f32, DataType::bf16, DataType::f16}));
  ::unsetenv("GRADLOOM_CUDA_MODULE");
#endif
}

// An engine that sums otherwise than is asked for is no answer, nor is a graph that is none.
TEST(CudaGraphs, ThatNoEngineComputesAreRefusedInTheLibrarysWords) {
#ifndef GRADLOOM_CUDA_MODULE_FILE
  GTEST_SKIP() << "the CUDA toolkit or cuDNN is not here: the module is not built";
#else
  ::setenv("GRADLOOM_CUDA_MODULE", GRADLOOM_CUDA_MODULE_FILE, 1);
  const auto tensor = [](int id, std::vector<std::int64_t> extents) {
    return DnnTensor{id, extents, {extents[1] * extents[2] * extents[3], 1, extents[3] * extents[1], extents[1]}};
  };
  const auto refusal = [&](std::int64_t rows, std::size_t limit) -> std::string {
    const DnnGraph graph{
        .tensors = {tensor(0, {2, 4, 8, 8}), tensor(1, {4, 4, 3, 3}), tensor(2, {2, 4, rows, 8})},
        .operations = {DnnConvolution{DnnConvolution::Kind::forward, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 0, 1, 2}},
        .deterministic = true};
    try {
      planWithoutDevice(kH200, graph, limit);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  };
  constexpr std::size_t kLimit = std::size_t{256} << 20;
  EXPECT_EQ(refusal(8, kLimit), "");
  EXPECT_THAT(refusal(7, kLimit), testing::HasSubstr("CUDNN_STATUS_BAD_PARAM"));
  ::unsetenv("GRADLOOM_CUDA_MODULE");
#endif
}

}  // namespace
}  // namespace loom::cuda
