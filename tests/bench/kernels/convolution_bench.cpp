// What our own convolutions take beside oneDNN's: each of the three directions of a convolution as the backend compiles
// it, on one thread, by the least processor time of many runs, which holds on a machine that others use. Beside it,
// what the processor's multiply-adds would allow if each product were computed. GF/s are always those of the products
// themselves.
//   convolution_bench [f32|bf16] [workload]
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "engine/base/json.h"
#include "engine/cpu/cpu_backend.h"
#include "engine/passes/differentiate.h"
#include "engine/program/builder.h"
#include "tests/bench/kernels/peak.h"

namespace loom {
namespace {

struct Case {
  const char* of;
  std::int64_t batch, inputs, outputs, size, pad, kernel = 3, stride = 1;
};
const Case kCases[] = {
    {"mnist-cnn", 64, 32, 64, 26, 0},       {"resnet20", 128, 16, 16, 32, 1},
    {"resnet20", 128, 32, 32, 16, 1},       {"resnet20", 128, 64, 64, 8, 1},
    {"resnet50", 8, 64, 64, 56, 1},         {"resnet50", 8, 128, 128, 28, 1},
    {"resnet50", 8, 256, 256, 14, 1},       {"resnet50", 8, 512, 512, 7, 1},
    {"one sample", 1, 64, 64, 56, 1},       {"one sample", 1, 256, 256, 14, 1},
    {"small image", 64, 64, 64, 5, 1},      {"narrow", 32, 48, 80, 19, 1},
    {"resnet50", 8, 64, 256, 56, 0, 1},     {"resnet50", 8, 256, 64, 56, 0, 1},
    {"resnet50", 8, 128, 512, 28, 0, 1},    {"resnet50", 8, 512, 128, 28, 0, 1},
    {"resnet50", 8, 256, 1024, 14, 0, 1},   {"resnet50", 8, 1024, 256, 14, 0, 1},
    {"resnet50", 8, 512, 2048, 7, 0, 1},    {"resnet50", 8, 2048, 512, 7, 0, 1},
    {"resnet50", 8, 256, 512, 56, 0, 1, 2}, {"resnet50", 8, 1024, 2048, 14, 0, 1, 2},
    {"resnet50", 8, 128, 128, 56, 1, 3, 2}, {"resnet50", 8, 256, 256, 28, 1, 3, 2},
    {"resnet50", 8, 512, 512, 14, 1, 3, 2},
};

// The convolution between operations of its own, so that its tensors may stand in bf16.
Program programOf(const Case& c) {
  using Integers = std::vector<std::int64_t>;
  ProgramBuilder b(1, 1, true);
  const auto inside = [&](TensorId id) { return b.add("scale", {id}, {{"factor", 0.5}}); };
  const TensorId x = inside(b.parameter({.name = "x", .shape = {c.batch, c.inputs, c.size, c.size}})),
                 w = b.parameter({.name = "w", .shape = {c.outputs, c.inputs, c.kernel, c.kernel}});
  const TensorId y =
      inside(b.add("convolution", {x, w},
                   {{"padding", Integers{c.pad, c.pad, c.pad, c.pad}}, {"strides", Integers{c.stride, c.stride}}}));
  const TensorId weighted = b.add("binary", {y, y}, {{"function", std::string("multiply")}});
  b.result("loss", ResultKind::loss, b.add("reduce", {weighted}, {{"function", std::string("sum")}}));
  differentiate(b);
  return b.take();
}

// Milliseconds forward, to the input, to the weight.
std::vector<double> measure(const Case& c, DataType precision, CpuWay own) {
  const auto cpu = makeCpuBackend(1, {.winograd = own, .pixels = own});
  ParameterStore store(1, cpu->makeMemory());
  const Program program = programOf(c);
  store.ensure(program.parameters);
  const auto executable = cpu->compile(program, store, {.precision = precision, .threads = 1});
  int runs = 0;
  for (const double begin = threadSeconds(); runs < 5 || (threadSeconds() - begin < 0.5 && runs < 200); ++runs)
    executable->run({});
  std::vector<double> parts(3);
  const Json facts = executable->describe();
  for (const Json& operation : facts["operations"]) {
    const std::string kernel = operation["kernel"];
    const double took = 1e3 * operation["least_cpu_seconds"].get<double>();
    if (kernel.starts_with("convolution_input_gradient"))
      parts[1] += took;
    else if (kernel.starts_with("convolution_weight_gradient") || kernel == "sum weight gradients")
      parts[2] += took;
    else if (kernel.starts_with("convolution"))
      parts[0] += took;
  }
  return parts;
}

void run(DataType precision, const std::string& workload) {
  const double peak = peakGigaflops(precision == DataType::bf16);
  std::printf("%s, one thread: %.0f GF/s\n", precision == DataType::bf16 ? "bf16" : "f32", peak);
  std::printf("%-12s %5s %5s %5s %4s %6s  %-8s %9s %6s %9s %6s %6s\n", "workload", "batch", "in", "out", "size",
              "kernel", "part", "own ms", "GF/s", "oneDNN ms", "GF/s", "ratio");
  for (const Case& c : kCases) {
    if (!workload.empty() && workload != c.of) continue;
    const auto own = measure(c, precision, CpuWay::wherePossible), library = measure(c, precision, CpuWay::nowhere);
    const double size = static_cast<double>((c.size + 2 * c.pad - c.kernel) / c.stride + 1),
                 taps = static_cast<double>(c.kernel * c.kernel),
                 gigaflops = 2e-9 * taps * static_cast<double>(c.batch * c.inputs * c.outputs) * size * size;
    const char* names[] = {"forward", "to input", "to weight"};
    for (std::size_t i = 0; i < 3; ++i)
      std::printf("%-12s %5ld %5ld %5ld %4ld %3ld / %ld  %-9s %8.3f %6.0f %9.3f %6.0f %6.2f\n", c.of, c.batch, c.inputs,
                  c.outputs, c.size, c.kernel, c.stride, names[i], own[i], gigaflops / own[i] * 1e3, library[i],
                  gigaflops / library[i] * 1e3, library[i] / own[i]);
  }
}

}  // namespace
}  // namespace loom

int main(int count, char** arguments) {
  setenv("GRADLOOM_PROFILE", "1", 1);
  const std::string wanted = count > 1 ? arguments[1] : "";
  const std::string workload = count > 2 ? arguments[2] : "";
  if (wanted != "bf16") loom::run(loom::DataType::f32, workload);
  if (wanted != "f32") loom::run(loom::DataType::bf16, workload);
}
