// What the author of a kernel or of its lowering might get wrong is got wrong here, one thing at a time: a barrier left
// out, a bound that is one too far, a stride that is one too long. The cases of the op table must tell each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>

#include "engine/base/error.h"
#include "engine/cuda/cuda_backend.h"
#include "tests/engine/cuda/forgetful_device.h"
#include "tests/engine/cuda/wide_cases.h"
#define LOOM_DEVICE_LANGUAGE "tests/engine/cuda/fake/device_language.h"
#include "engine/cuda/kernels/reduce_block.cuh"
#include "tests/engine/ops/op_cases.h"

namespace loom::cuda::fake {
namespace {

using cases::OpCase;

std::vector<OpCase> allCases() {
  std::vector<OpCase> all = cases::opCases();
  const std::vector<OpCase> wide = cases::wideCases();
  all.insert(all.end(), wide.begin(), wide.end());
  return all;
}

// What is computed by other kernels in 16 bits is tried in both.
std::vector<DataType> typesOf(const OpCase& opCase) {
  return opCase.op == "attention" ? std::vector{DataType::f32, DataType::bf16} : std::vector{DataType::f32};
}

struct KernelTrial {
  std::string fault;
  cases::Outcome outcome;
  ForgetfulDevice::Asked asked;
};
using Change = std::function<void(ForgetfulDevice&)>;
KernelTrial run(
    const OpCase& opCase, const FakeOptions& options, const Change& change = [](ForgetfulDevice&) {},
    DataType type = DataType::f32) {
  const auto device = std::make_shared<ForgetfulDevice>(options);
  change(*device);
  KernelTrial trial;
  try {
    const auto backend = makeCudaBackend(device);
    trial.outcome = cases::runCase(opCase, *backend, {.precision = type});
  } catch (const Error& error) {
    trial.fault = error.what();
  }
  if (const auto fault = device->inner().takeFault()) trial.fault = *fault;
  trial.asked = device->asked();
  return trial;
}
// What the change did shows: the device complains, or refuses a graph, or other numbers come out. In a process of its
// own, since a kernel that is told nonsense may write anywhere.
bool shows(
    const OpCase& opCase, const KernelTrial& whole, const FakeOptions& options,
    const Change& change = [](ForgetfulDevice&) {}, DataType type = DataType::f32) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(STDERR_FILENO);
    ::close(STDOUT_FILENO);
    const KernelTrial trial = run(opCase, options, change, type);
    const bool refused = trial.asked.graphs.size() != whole.asked.graphs.size();
    ::_exit(refused || !trial.fault.empty() || trial.outcome != whole.outcome ? 1 : 0);
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) throwError(ErrorCode::internal, "no process can be started");
  return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

// --- Barriers

// "sort.cuh:59" of every line that waits for the block. (For a warp, emulator_test: what ballots and shuffles order
// besides, it cannot tell.)
std::set<std::string> barriersOfTheSources() {
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(GRADLOOM_SOURCE_DIR "/engine/cuda/kernels")) {
    if (entry.path().extension() != ".cuh") continue;
    std::ifstream file(entry.path());
    std::string line;
    for (int number = 1; std::getline(file, line); ++number)
      if (line.find("__syncthreads") != line.npos)
        found.insert(fmt::format("{}:{}", entry.path().filename().string(), number));
  }
  return found;
}

// Twice behind each other, as a kernel may call them.
__global__ void maximaOfBlocks(const float* const* fromAndTo) {
  for (int k = 0; k < 3; ++k)
    const_cast<float*>(fromAndTo[1])[k * 64 + static_cast<int>(threadIdx.x)] =
        blockMax<64>(fromAndTo[0][k * 64 + static_cast<int>(threadIdx.x)]);
}
bool maximaAreRight(emulator::Barriers& barriers) {
  std::vector<float> from(3 * 64), to(3 * 64);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<float>(i * 37 % 64 + (i < 64 ? 100 : 0));
  bool right = true;
  for (const bool backwards : {false, true})
    for (std::uint64_t seed = 1; seed < 5; ++seed) {
      const emulator::Run how{"maxima", seed, backwards, &barriers};
      const float* const fromAndTo[] = {from.data(), to.data()};
      const float* const* const arguments = fromAndTo;
      LOOM_START(maximaOfBlocks, (Launch{{1}, {64}}), arguments, &how);
      for (std::size_t i = 0; i < to.size(); ++i) right &= to[i] == (i < 64 ? 163 : 63);
    }
  return right;
}

TEST(KernelMutation, EveryBarrierThatIsLeftOutIsFound) {
  struct Known {
    const OpCase* opCase;
    DataType type;
    KernelTrial whole;
  };
  const Change none = [](ForgetfulDevice&) {};
  const std::vector<OpCase> all = allCases();
  std::map<std::string, std::vector<std::shared_ptr<Known>>> meeting;  // by barrier
  for (const OpCase& opCase : all)
    for (const DataType type : typesOf(opCase)) {
      emulator::Barriers barriers;
      const auto known = std::make_shared<Known>(
          Known{&opCase, type, run(opCase, {.checkedCalls = 0, .barriers = &barriers}, none, type)});
      ASSERT_EQ(known->whole.fault, "") << opCase.name;
      for (const std::string& one : barriers.met) meeting[one].push_back(known);
    }
  emulator::Barriers whole;
  ASSERT_TRUE(maximaAreRight(whole));
  const std::set<std::string> barriers = barriersOfTheSources();
  EXPECT_GT(barriers.size(), 15U);
  for (const std::string& barrier : barriers) {
    emulator::Barriers without{.met = {}, .leftOut = barrier};
    const auto tells = [&](const auto& known) {
      return shows(*known->opCase, known->whole, {.barriers = &without}, none, known->type);
    };
    EXPECT_TRUE(std::ranges::any_of(meeting[barrier], tells) || !maximaAreRight(without))
        << barrier << ", where " << meeting[barrier].size() << " cases meet";
  }
}

// --- Bounds and strides

// Where in its arguments a kernel is told a count, an extent, a stride: the largest first.
std::vector<std::size_t> numbersOf(const KernelCall& call) {
  std::vector<std::pair<std::uint32_t, std::size_t>> numbers;
  for (std::size_t at = 0; at + 4 <= call.arguments.size(); at += 4) {
    std::uint64_t wide = 0;
    if (at % 8 == 0 && at + 8 <= call.arguments.size()) std::memcpy(&wide, call.arguments.data() + at, 8);
    if (wide >> 40 != 0 && wide >> 47 == 0) {
      at += 4;  // an address
      continue;
    }
    std::uint32_t number = 0;
    std::memcpy(&number, call.arguments.data() + at, 4);
    if (number > 0 && number < (1U << 20)) numbers.emplace_back(number, at);
  }
  std::ranges::sort(numbers, std::greater());
  std::vector<std::size_t> places;
  for (const auto& [number, place] : numbers) places.push_back(place);
  return places;
}

// Those that go by a table on the device, a block to each of its pieces, are told no bound. One that only copies
// or takes means brings, one number too far, the pattern of what nobody declares onto the same pattern, which the fake
// cannot tell from nothing.
bool isExcused(const std::string& kernel) {
  return kernel.starts_with("update") || kernel.starts_with("squares_of_") || kernel == "deliver_all" ||
         kernel == "convert_all" || kernel == "select" || kernel == "running_mean";
}

// A bound that is one too far: what a kernel would do that asks for none.
TEST(KernelMutation, EveryKernelThatIsToldMoreThanThereIsIsFound) {
  std::set<std::string> found, started;
  const auto tryAll = [&](const OpCase& opCase, DataType type) {
    const KernelTrial whole = run(
        opCase, {.checkedCalls = 0}, [](ForgetfulDevice&) {}, type);
    ASSERT_EQ(whole.fault, "") << opCase.name;
    for (std::size_t k = 0; k < whole.asked.whole.size(); ++k) {
      const auto* const call = std::get_if<KernelCall>(&whole.asked.whole[k]);
      if (call == nullptr || isExcused(call->kernel) || found.contains(call->kernel)) continue;
      const std::vector<std::size_t> places = numbersOf(*call);
      if (!places.empty()) started.insert(call->kernel);  // else it is told addresses alone
      const auto tooFar = [&](std::size_t place) {
        return [&, place](ForgetfulDevice& device) {
          device.change([&, place](int number, Call& asked) {
            if (number != static_cast<int>(k)) return;
            std::byte* const at = std::get<KernelCall>(asked).arguments.data() + place;
            std::uint32_t told = 0;
            std::memcpy(&told, at, sizeof(told));
            ++told;
            std::memcpy(at, &told, sizeof(told));
          });
        };
      };
      if (std::ranges::any_of(places, [&](std::size_t place) { return shows(opCase, whole, {}, tooFar(place), type); }))
        found.insert(call->kernel);
    }
  };
  for (const OpCase& opCase : allCases())
    for (const DataType type : typesOf(opCase)) tryAll(opCase, type);
  EXPECT_GT(started.size(), 30U);
  for (const std::string& kernel : found) started.erase(kernel);
  EXPECT_THAT(started, testing::IsEmpty());
}

// The same for what cuBLASLt and cuDNN are told.
TEST(KernelMutation, EveryExtentAndStrideOfAProductMatters) {
  using Field = std::int64_t MatmulCall::*;
  constexpr std::pair<const char*, Field> kFields[] = {{"m", &MatmulCall::m},
                                                       {"n", &MatmulCall::n},
                                                       {"k", &MatmulCall::k},
                                                       {"lda", &MatmulCall::lda},
                                                       {"ldb", &MatmulCall::ldb},
                                                       {"ldc", &MatmulCall::ldc},
                                                       {"batch", &MatmulCall::batch},
                                                       {"strideA", &MatmulCall::strideA},
                                                       {"strideB", &MatmulCall::strideB},
                                                       {"strideC", &MatmulCall::strideC}};
  constexpr int kTrials = 6;  // of each field, for time
  std::map<std::string, int> tried;
  for (const OpCase& opCase : cases::opCases()) {
    if (opCase.op != "matmul" && opCase.op != "attention") continue;
    const KernelTrial whole = run(opCase, {.checkedCalls = 0});
    ASSERT_EQ(whole.fault, "") << opCase.name;
    for (std::size_t k = 0; k < whole.asked.whole.size(); ++k) {
      const auto* const call = std::get_if<MatmulCall>(&whole.asked.whole[k]);
      if (call == nullptr) continue;
      for (const auto& [name, field] : kFields) {
        const std::int64_t was = call->*field;
        const bool isStep = std::string_view(name).starts_with("stride");
        if (isStep && (was == 0 || call->batch == 1)) continue;
        // The way from a row to the next of one row.
        const std::int64_t columnsA = call->transposeA ? call->m : call->k,
                           columnsB = call->transposeB ? call->k : call->n;
        if ((field == &MatmulCall::lda && columnsA == 1) || (field == &MatmulCall::ldb && columnsB == 1) ||
            (field == &MatmulCall::ldc && call->n == 1))
          continue;
        if (tried[name]++ >= kTrials) continue;
        EXPECT_TRUE(shows(opCase, whole, {},
                          [&](ForgetfulDevice& device) {
                            device.change([&](int number, Call& asked) {
                              if (number == static_cast<int>(k)) ++(std::get<MatmulCall>(asked).*field);
                            });
                          }))
            << name << " of call " << k << " in " << opCase.name;
      }
    }
  }
  EXPECT_EQ(tried.size(), std::size(kFields));
}

TEST(KernelMutation, EveryStrideOfAGraphMatters) {
  int changed = 0;
  for (const OpCase& opCase : cases::opCases()) {
    if (!opCase.op.starts_with("convolution") || changed > 60) continue;
    const KernelTrial whole = run(opCase, {.checkedCalls = 0});
    ASSERT_EQ(whole.fault, "") << opCase.name;
    for (std::size_t g = 0; g < whole.asked.graphs.size(); ++g)
      for (std::size_t t = 0; t < whole.asked.graphs[g].tensors.size(); ++t) {
        const DnnTensor& tensor = whole.asked.graphs[g].tensors[t];
        if (tensor.isVirtual) continue;
        for (std::size_t axis = 0; axis < tensor.extents.size(); ++axis) {
          if (tensor.extents[axis] == 1) continue;
          ++changed;
          EXPECT_TRUE(shows(opCase, whole, {},
                            [&](ForgetfulDevice& device) {
                              device.changeGraph([&](int number, DnnGraph& graph) {
                                if (number == static_cast<int>(g)) ++graph.tensors[t].strides[axis];
                              });
                            }))
              << "axis " << axis << " of tensor " << t << " of graph " << g << " in " << opCase.name;
        }
      }
  }
  EXPECT_GT(changed, 60);
}

}  // namespace
}  // namespace loom::cuda::fake
