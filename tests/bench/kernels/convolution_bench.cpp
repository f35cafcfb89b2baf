// What our own convolutions take beside oneDNN's: each of the three directions of a convolution as the backend compiles
// it, on one thread, by the least processor time of many runs, which holds on a machine that others use. Beside it,
// what the processor's multiply-adds would allow if each product were computed. GF/s are always those of the products
// themselves.
//   convolution_bench [f32|bf16] [workload]
//   convolution_bench errors: how far both are in f32 from sums in double, relative to their norm.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "engine/base/json.h"
#include "engine/base/philox.h"
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

// What a convolution of stride 1 gives for numbers of a normal distribution, and its gradients for such a gradient.
struct Parts {
  std::vector<double> y, dx, dw;
};
std::vector<float> normals(const char* name, std::int64_t count, double scale) {
  const Philox random(3, name);
  std::vector<float> numbers(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(scale * random.normal(i));
  return numbers;
}

class Errors {
 public:
  explicit Errors(const Case& c)
      : m_case(c),
        m_made(c.size + 2 * c.pad - 2),
        m_x(normals("x", c.batch * c.inputs * c.size * c.size, 1)),
        m_w(normals("w", c.outputs * c.inputs * 9, 1 / std::sqrt(9.0 * static_cast<double>(c.inputs)))),
        m_dy(normals("dy", c.batch * c.outputs * m_made * m_made, 1)) {}

  Parts inDouble() const {
    Parts parts{.y = std::vector<double>(m_dy.size()),
                .dx = std::vector<double>(m_x.size()),
                .dw = std::vector<double>(m_w.size())};
    for (std::int64_t n = 0; n < m_case.batch; ++n)
      for (std::int64_t o = 0; o < m_case.outputs; ++o)
        for (std::int64_t c = 0; c < m_case.inputs; ++c)
          for (std::int64_t tap = 0; tap < 9; ++tap) add(parts, n, o, c, tap);
    return parts;
  }
  // As the backend computes it. The gradient of what y is multiplied with is y.
  Parts computed(CpuWay own) const {
    const auto cpu = makeCpuBackend(1, {.winograd = own, .pixels = CpuWay::nowhere});
    ParameterStore store(1, cpu->makeMemory());
    ProgramBuilder b(1, 1, true);
    const TensorId x = b.parameter({.name = "x", .shape = {m_case.batch, m_case.inputs, m_case.size, m_case.size}}),
                   w = b.parameter({.name = "w", .shape = {m_case.outputs, m_case.inputs, 3, 3}}),
                   dy = b.parameter({.name = "dy", .shape = {m_case.batch, m_case.outputs, m_made, m_made}});
    const TensorId y = b.add("convolution", {x, w},
                             {{"padding", std::vector<std::int64_t>(4, m_case.pad)},
                              {"strides", std::vector<std::int64_t>{1, 1}}}),
                   weighted = b.add("binary", {y, dy}, {{"function", std::string("multiply")}});
    b.result("loss", ResultKind::loss, b.add("reduce", {weighted}, {{"function", std::string("sum")}}));
    differentiate(b);
    const Program program = b.take();
    store.ensure(program.parameters);
    store.at("x").value.write(m_x);
    store.at("w").value.write(m_w);
    store.at("dy").value.write(m_dy);
    cpu->compile(program, store, {.threads = 1})->run({});
    const auto wide = [&](const char* name) {
      const std::vector<float> numbers = store.gradient(name).values();
      return std::vector<double>(numbers.begin(), numbers.end());
    };
    return {.y = wide("dy"), .dx = wide("x"), .dw = wide("w")};
  }

 private:
  void add(Parts& parts, std::int64_t n, std::int64_t o, std::int64_t c, std::int64_t tap) const {
    const auto weight = static_cast<std::size_t>((o * m_case.inputs + c) * 9 + tap);
    double sum = 0;
    for (std::int64_t i = 0; i < m_made; ++i) {
      const std::int64_t row = i + tap / 3 - m_case.pad;
      if (row < 0 || row >= m_case.size) continue;
      for (std::int64_t j = 0; j < m_made; ++j) {
        const std::int64_t column = j + tap % 3 - m_case.pad;
        if (column < 0 || column >= m_case.size) continue;
        const auto from =
                       static_cast<std::size_t>(((n * m_case.inputs + c) * m_case.size + row) * m_case.size + column),
                   to = static_cast<std::size_t>(((n * m_case.outputs + o) * m_made + i) * m_made + j);
        parts.y[to] += static_cast<double>(m_x[from]) * static_cast<double>(m_w[weight]);
        parts.dx[from] += static_cast<double>(m_dy[to]) * static_cast<double>(m_w[weight]);
        sum += static_cast<double>(m_x[from]) * static_cast<double>(m_dy[to]);
      }
    }
    parts.dw[weight] += sum;
  }

  Case m_case;
  std::int64_t m_made;
  std::vector<float> m_x, m_w, m_dy;
};

double distance(const std::vector<double>& found, const std::vector<double>& expected) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    difference += (found[i] - expected[i]) * (found[i] - expected[i]);
    norm += expected[i] * expected[i];
  }
  return std::sqrt(difference / norm);
}

void printErrors() {
  std::printf("%5s %5s %5s %4s  %-9s %8s %8s %6s\n", "batch", "in", "out", "size", "part", "own", "oneDNN", "ratio");
  for (const Case& c : {Case{"", 16, 16, 16, 32, 1}, Case{"", 64, 32, 64, 26, 0}, Case{"", 16, 64, 64, 14, 1},
                        Case{"", 4, 128, 128, 28, 1}, Case{"", 4, 256, 256, 14, 1}, Case{"", 4, 512, 512, 7, 1}}) {
    const Errors errors(c);
    const Parts exact = errors.inDouble(), own = errors.computed(CpuWay::wherePossible),
                library = errors.computed(CpuWay::nowhere);
    const auto print = [&](const char* part, const std::vector<double> Parts::*of) {
      const double ours = distance(own.*of, exact.*of), theirs = distance(library.*of, exact.*of);
      std::printf("%5ld %5ld %5ld %4ld  %-9s %8.1e %8.1e %6.2f\n", c.batch, c.inputs, c.outputs, c.size, part, ours,
                  theirs, ours / theirs);
    };
    print("forward", &Parts::y);
    print("to input", &Parts::dx);
    print("to weight", &Parts::dw);
  }
}

}  // namespace
}  // namespace loom

int main(int count, char** arguments) {
  setenv("GRADLOOM_PROFILE", "1", 1);
  const std::string wanted = count > 1 ? arguments[1] : "";
  const std::string workload = count > 2 ? arguments[2] : "";
  if (wanted == "errors") return loom::printErrors(), 0;
  if (wanted != "bf16") loom::run(loom::DataType::f32, workload);
  if (wanted != "f32") loom::run(loom::DataType::bf16, workload);
}
