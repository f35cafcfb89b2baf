// Every graph for cuDNN that the op cases and the workloads of `loom bench` ask for, put before cuDNN itself as for
// devices that are not there. Each program must have engines that compute as asked; what cuDNN cannot tell without a
// driver, or refuses, stands in answers.txt.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>

#include "engine/base/files.h"
#include "engine/cuda/cuda_backend.h"
#include "engine/cuda/lowerings/attention.h"
#include "engine/loom/bench/workloads.h"
#include "engine/network/analysis.h"
#include "engine/passes/differentiate.h"
#include "engine/program/builder.h"
#include "tests/engine/cuda/module/planner.h"
#include "tests/engine/ops/op_cases.h"

namespace loom::cuda {
namespace {

constexpr DataType kPrecisions[] = {DataType::f32, DataType::bf16, DataType::f16};

class CudaGraphs : public testing::Test {
 protected:
  void SetUp() override {
#ifdef GRADLOOM_CUDA_MODULE_FILE
    ::setenv("GRADLOOM_CUDA_MODULE", GRADLOOM_CUDA_MODULE_FILE, 1);
#else
    GTEST_SKIP() << "the CUDA toolkit or cuDNN is not here: the module is not built";
#endif
  }
  void TearDown() override {
    ::unsetenv("GRADLOOM_CUDA_MODULE");
  }
};

// "weight gradient: 8x4x9x9 bf16, 6x4x3x3 f32, 8x6x9x9 bf16; strides 1,1 pads 1,1 1,1; relu".
std::string textOf(const DnnGraph& graph) {
  std::string text;
  for (const auto& one : graph.operations) {
    if (const auto* const convolution = std::get_if<DnnConvolution>(&one)) {
      using Kind = DnnConvolution::Kind;
      text += convolution->kind == Kind::forward         ? "forward:"
              : convolution->kind == Kind::inputGradient ? "input gradient:"
                                                         : "weight gradient:";
      for (std::size_t k = 0; k < 3; ++k)
        text += fmt::format(" {} {}", fmt::join(graph.tensors[k].extents, "x"), toString(graph.tensors[k].type));
      text += fmt::format("; strides {}, pads {} {}", fmt::join(convolution->strides, " "),
                          fmt::join(convolution->before, " "), fmt::join(convolution->after, " "));
      if (std::ranges::any_of(convolution->dilation, [](std::int64_t by) { return by != 1; }))
        text += fmt::format(", dilation {}", fmt::join(convolution->dilation, " "));
    } else {
      const auto& pointwise = std::get<DnnPointwise>(one);
      text += pointwise.mode == DnnPointwise::Mode::add ? "; + bias" : "; + relu";
    }
  }
  return text + fmt::format(" in {}", toString(graph.tensors.back().type));
}

Program trainedProgram(const Workload& workload) {
  ProgramBuilder builder(lower(workload.network, {.batch = workload.batch, .seed = 1, .training = true}));
  differentiate(builder);
  return builder.take();
}

// What was refused, or cannot be told, and for which devices.
class Answers {
 public:
  void add(const KnownDevice& device, const Planner& planner) {
    for (const auto& [key, asked] : planner.asked())
      if (asked.answer != Answer::yes)
        m_lines[(asked.answer == Answer::no ? "no      " : "unknown ") + textOf(asked.graph)].push_back(device.key);
  }
  std::string text() const {
    std::string all;
    for (const auto& [line, devices] : m_lines) all += fmt::format("{} ({})\n", line, fmt::join(devices, ", "));
    return all;
  }

 private:
  std::map<std::string, std::vector<std::string>> m_lines;
};

TEST_F(CudaGraphs, OfAllConvolutionsAndWorkloadsHaveEnginesOnTheseDevices) {
  Answers answers;
  std::vector<std::pair<std::string, Program>> programs;
  for (const cases::OpCase& opCase : cases::opCases())
    if (opCase.op.starts_with("convolution")) programs.emplace_back(opCase.name, cases::programOf(opCase, true));
  EXPECT_GT(programs.size(), 10U);
  for (const std::string& name : workloadNames()) programs.emplace_back(name, trainedProgram(makeWorkload(name)));
  for (const KnownDevice& device : kKnownDevices) {
    const auto planner = std::make_shared<Planner>(device);
    const auto backend = makeCudaBackend(planner);
    for (const auto& [name, program] : programs)
      for (const DataType precision : kPrecisions) {
        SCOPED_TRACE(fmt::format("{} in {} on {}", name, toString(precision), device.name));
        EXPECT_NO_THROW(backend->measure(program, {.precision = precision}));
      }
    std::set<DataType> convolvedIn;
    for (const auto& [key, asked] : planner->asked()) {
      if (!asked.plan) continue;
      EXPECT_THAT(asked.plan->name, testing::StartsWith("engine "));
      convolvedIn.insert(asked.graph.tensors[0].type);
    }
    EXPECT_EQ(convolvedIn, (std::set{DataType::f32, DataType::bf16, DataType::f16}));
    answers.add(device, *planner);
  }
  // They are those of one version of cuDNN, without a driver.
  if (void* const driver = ::dlopen("libcuda.so.1", RTLD_NOW)) {
    ::dlclose(driver);
    GTEST_SKIP() << "there is a driver: it answers more than is kept";
  }
  const std::filesystem::path kept = GRADLOOM_SOURCE_DIR "/tests/engine/cuda/module/answers.txt";
  std::string expected = readFile(kept);
  const std::string version = expected.substr(0, expected.find('\n'));
  if (cudaLibraries().find(version) == std::string::npos)
    GTEST_SKIP() << "the answers that are kept are those of " << version << ", here are " << cudaLibraries();
  const std::string found = version + "\n" + answers.text();
  if (found != expected) std::ofstream("answers.txt") << found;
  EXPECT_EQ(found, expected) << "what was found now stands in answers.txt in " << std::filesystem::current_path();
}

// Of attention without a mask: there is an engine, or one that a driver must be asked about. (With a driver that
// only answers questions, cuDNN 9.19 finalised every one of these for all three devices.)
TEST_F(CudaGraphs, OfAttentionAreNotRefusedOnTheseDevices) {
  for (const KnownDevice& device : kKnownDevices)
    for (const DataType type : {DataType::bf16, DataType::f16})
      for (const std::int64_t width : {8, 32, 64, 72, 128})
        for (const std::int64_t keys : {512, 50}) {
          const Heads heads{
              .batch = 4, .queries = 512, .keys = keys, .channels = 3 * width, .heads = 3, .causal = false};
          Planner planner(device);
          try {
            planner.plan(attentionGraph(heads, type), std::size_t{64} << 20);
          } catch (const Error& error) {
            EXPECT_EQ(planner.asked().begin()->second.answer, Answer::unknown) << device.name << ": " << error.what();
            EXPECT_THAT(error.what(), testing::HasSubstr("cuDNN's graph of attention"));
          }
        }
}

// An engine that sums otherwise than is asked for is no answer, nor is a graph that is none.
TEST_F(CudaGraphs, ThatNoEngineComputesAreRefusedInTheLibrarysWords) {
  const auto tensor = [](int id, std::vector<std::int64_t> extents) {
    return DnnTensor{id, extents, {extents[1] * extents[2] * extents[3], 1, extents[3] * extents[1], extents[1]}};
  };
  const auto refusal = [&](std::int64_t rows, std::size_t limit) -> std::string {
    const DnnGraph graph{
        .tensors = {tensor(0, {2, 4, 8, 8}), tensor(1, {4, 4, 3, 3}), tensor(2, {2, 4, rows, 8})},
        .operations = {DnnConvolution{DnnConvolution::Kind::forward, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 0, 1, 2}},
        .deterministic = true};
    try {
      const auto plan = planWithoutDevice(kKnownDevices[1].properties(), graph, limit);
      EXPECT_LE(plan->workspaceBytes, limit);
      return "";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::device);
      return error.what();
    }
  };
  constexpr std::size_t kLimit = std::size_t{256} << 20;
  EXPECT_EQ(refusal(8, kLimit), "");
  EXPECT_THAT(refusal(7, kLimit), testing::HasSubstr("CUDNN_STATUS_BAD_PARAM"));
}

}  // namespace
}  // namespace loom::cuda
