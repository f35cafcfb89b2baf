// gpu_calibrate FILE: what share of its data sheet this machine's GPU reaches, in the form that `loom plan
// --calibration` reads (engine/planner/README.md). Large calls of each kind alone, the best of a few; what is not
// measured here stays assumed.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <ctime>
#include <functional>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/json.h"
#include "engine/cuda/kernels/elementwise.h"
#include "engine/cuda/module_device.h"
#include "engine/planner/gpu_model.h"

namespace loom::cuda {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

class Bench {
 public:
  Bench(Device& device, const GpuModel& gpu) : m_device(device), m_gpu(gpu) {
    for (std::byte*& one : m_blocks) {
      one = device.allocate(kBlock, "a trial");
      const Access whole{one, kBlock, true};
      device.enqueue(Stream::compute, FillCall{one, kBlock, 0x2c}, {&whole, 1},
                     "");  // small finite numbers in every type
    }
    m_pinned = device.allocatePinned(kPinned);
    device.synchronise(Stream::compute);
  }
  ~Bench() {
    for (std::byte* one : m_blocks) m_device.release(one);
    m_device.releasePinned(m_pinned);
  }
  Bench(const Bench&) = delete;

  // Of so many operations and bytes moved.
  double product(DataType type, bool tf32, std::int64_t m, std::int64_t n, std::int64_t k, bool bandwidth) {
    const MatmulCall call{.m = m,
                          .n = n,
                          .k = k,
                          .factors = type,
                          .result = type,
                          .tf32 = tf32,
                          .lda = m,
                          .ldb = k,
                          .ldc = m,
                          .a = m_blocks[0],
                          .b = m_blocks[1],
                          .c = m_blocks[2],
                          .workspace = m_blocks[3],
                          .workspaceBytes = 32 * kMiB};
    const double size = static_cast<double>(bytesOf(type));
    const double bytes = size * static_cast<double>(m * k + k * n + m * n);
    const double seconds = secondsOf([&] { m_device.enqueue(Stream::compute, call, {}, ""); });
    return bandwidth ? bytes / seconds / m_gpu.bandwidth
                     : 2.0 * static_cast<double>(m * n) * static_cast<double>(k) / seconds / peak(type, tf32);
  }

  // Channels to channels on images of extent x extent, `kernel` x `kernel`, all sides padded to keep it.
  double convolution(DataType type, std::int64_t batch, std::int64_t from, std::int64_t to, std::int64_t extent,
                     std::int64_t kernel, bool bandwidth) {
    const auto tensor = [&](int id, std::int64_t n, std::int64_t c, std::int64_t side) {
      return DnnTensor{id, {n, c, side, side}, {c * side * side, 1, side * c, c}, type};
    };
    const std::int64_t pad = kernel / 2;
    const DnnGraph graph{
        .tensors = {tensor(0, batch, from, extent), tensor(1, to, from, kernel), tensor(2, batch, to, extent)},
        .operations = {DnnConvolution{DnnConvolution::Kind::forward, {1, 1}, {pad, pad}, {pad, pad}, {1, 1}, 0, 1, 2}},
        .deterministic = true};
    const auto plan = m_device.plan(graph, 256 * kMiB);
    const DnnCall call{
        .plan = plan, .tensors = {{0, m_blocks[0]}, {1, m_blocks[1]}, {2, m_blocks[2]}}, .workspace = m_blocks[3]};
    const double places = static_cast<double>(batch * extent * extent);
    const double bytes = static_cast<double>(bytesOf(type)) *
                         (places * static_cast<double>(from + to) + static_cast<double>(from * to * kernel * kernel));
    const double seconds = secondsOf([&] { m_device.enqueue(Stream::compute, call, {}, ""); });
    return bandwidth ? bytes / seconds / m_gpu.bandwidth
                     : 2 * places * static_cast<double>(from * to * kernel * kernel) / seconds / peak(type, false);
  }

  // Of a kernel of our own that reads and writes every number once.
  double pass() {
    constexpr std::int64_t kCount = static_cast<std::int64_t>(kBlock / 2);
    const ScaleArguments arguments{.x = m_blocks[0], .y = m_blocks[1], .count = kCount, .factor = 1};
    KernelCall call{
        "scale.bf16", {{static_cast<unsigned>(kCount / 8 / 256)}, {256}}, std::vector<std::byte>(sizeof(arguments))};
    std::memcpy(call.arguments.data(), &arguments, sizeof(arguments));
    return 2.0 * static_cast<double>(kBlock) / secondsOf([&] { m_device.enqueue(Stream::compute, call, {}, ""); }) /
           m_gpu.bandwidth;
  }

  double upload() {
    return static_cast<double>(kPinned) /
           secondsOf([&] { m_device.upload(Stream::compute, m_pinned, m_blocks[0], kPinned); }) / m_gpu.link;
  }

  // From one kernel to the next in a captured graph: of kernels that have nothing to do.
  double launchMicroseconds() {
    constexpr int kLaunches = 1000;
    const ScaleArguments arguments{.x = m_blocks[0], .y = m_blocks[1], .count = 8, .factor = 1};
    KernelCall call{"scale.bf16", {{1}, {32}}, std::vector<std::byte>(sizeof(arguments))};
    std::memcpy(call.arguments.data(), &arguments, sizeof(arguments));
    m_device.enqueue(Stream::compute, call, {}, "");
    m_device.synchronise(Stream::compute);
    m_device.beginCapture(Stream::compute);
    for (int k = 0; k < kLaunches; ++k) m_device.enqueue(Stream::compute, call, {}, "");
    const auto graph = m_device.endCapture(Stream::compute);
    return secondsOf([&] { m_device.launch(*graph, Stream::compute); }) / kLaunches * 1e6;
  }

 private:
  double peak(DataType type, bool tf32) const {
    return type != DataType::f32 ? m_gpu.sixteenBits : tf32 ? m_gpu.tf32 : m_gpu.f32;
  }
  double secondsOf(const std::function<void()>& work) {
    using Clock = std::chrono::steady_clock;
    constexpr int kTrials = 5, kRuns = 4;
    double best = 1e9;
    for (int trial = 0; trial <= kTrials; ++trial) {  // the first loads what is loaded lazily
      const Clock::time_point begin = Clock::now();
      for (int k = 0; k < kRuns; ++k) work();
      m_device.synchronise(Stream::compute);
      if (trial > 0) best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count() / kRuns);
    }
    return best;
  }

  static constexpr std::size_t kBlock = 512 * kMiB, kPinned = 256 * kMiB;
  Device& m_device;
  const GpuModel& m_gpu;
  std::byte* m_blocks[4] = {};
  std::byte* m_pinned = nullptr;
};

void calibrate(const std::filesystem::path& file) {
  const auto device = openCudaDevice(0, {.times = true});
  const DeviceFacts facts = device->facts();
  const GpuModel* const gpu = findGpuModel(facts.name);
  if (gpu == nullptr)
    throwError(ErrorCode::device, "there is no data sheet of {} in engine/planner/gpu_model.cpp", facts.name);
  Bench bench(*device, *gpu);
  const auto share = [](double value) { return std::round(value * 1000) / 1000; };
  constexpr std::int64_t kLarge = 8192;
  Json product = {{"bandwidth", share(bench.product(DataType::bf16, false, kLarge, 16, kLarge, true))},
                  {"f32", share(bench.product(DataType::f32, false, kLarge / 2, kLarge / 2, kLarge / 2, false))},
                  {"tf32", share(bench.product(DataType::f32, true, kLarge, kLarge, kLarge, false))}};
  Json convolution = {{"bandwidth", share(bench.convolution(DataType::bf16, 256, 64, 256, 56, 1, true))},
                      {"f32", share(bench.convolution(DataType::f32, 64, 256, 256, 28, 3, false))}};
  for (const DataType type : {DataType::bf16, DataType::f16}) {
    product[toString(type)] = share(bench.product(type, false, kLarge, kLarge, kLarge, false));
    convolution[toString(type)] = share(bench.convolution(type, 256, 256, 256, 28, 3, false));
  }
  const Json all = {
      {"calibration", 1},
      {"device", facts.name},
      {"versions", cudaLibraries()},
      {"date", fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)))},
      {"efficiency",
       {{"convolution", convolution}, {"product", product}, {"memory", {{"bandwidth", share(bench.pass())}}}}},
      {"upload", share(bench.upload())},
      {"launch_us", share(bench.launchMicroseconds())}};
  writeFileAtomically(file, all.dump(1) + "\n");
}

}  // namespace
}  // namespace loom::cuda

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: gpu_calibrate FILE\n");
    return 2;
  }
  try {
    loom::cuda::calibrate(arguments[1]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpu_calibrate: %s\n", error.what());
    return 1;
  }
}
