// Whole programs on the CPU: gradients against the reference backend, several shapes on one store, layouts, faults.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <fstream>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/cpu/cpu_backend.h"
#include "engine/passes/passes.h"
#include "engine/program/builder.h"
#include "engine/program/collectives.h"
#include "tests/engine/cpu/networks.h"
#include "tests/engine/ops/op_cases.h"

namespace loom {
namespace {

struct Network {
  const char* name;
  Program (*make)(std::int64_t batch);
};
void PrintTo(const Network& network, std::ostream* to) {
  *to << network.name;
}

const Network kNetworks[] = {{"smallCnn", networks::smallCnn},
                             {"residualNetwork", networks::residualNetwork},
                             {"stackedLstm", networks::stackedLstm},
                             {"gatedRecurrent", networks::gatedRecurrent},
                             {"transformer", networks::transformerBlock},
                             {"perceptron", networks::perceptron}};

// Differences of single ops (1e-5) add up through a network, and a number near a ReLU's kink may fall to its other
// side.
void expectNear(const networks::Outcome& found, const networks::Outcome& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (const auto& [name, values] : expected)
    EXPECT_LT(cases::relativeDistance(found.at(name), values), tolerance) << name;
}

class CpuNetwork : public testing::TestWithParam<Network> {};

TEST_P(CpuNetwork, hasTheReferencesGradients) {
  const Program program = GetParam().make(6);
  const auto cpu = makeCpuBackend(), reference = makeReferenceBackend();
  const auto expected = networks::step(*reference, program);
  for (int threads : {1, 2, 4}) expectNear(networks::step(*cpu, program, {.threads = threads}), expected, 3e-5);
}

TEST_P(CpuNetwork, addsGradientsWhenAccumulating) {
  const auto cpu = makeCpuBackend(2);
  ParameterStore store(11);
  const auto executable = cpu->compile(GetParam().make(4), store, {});
  networks::fill(*executable, networks::kClasses);
  executable->run({});
  const auto once = networks::collect(*executable, store);
  executable->run({.accumulate = true});
  executable->run({.accumulate = true});
  for (const auto& [name, values] : networks::collect(*executable, store)) {
    if (!name.starts_with("gradient")) continue;
    std::vector<float> thrice = once.at(name);
    for (float& value : thrice) value *= 3;
    EXPECT_LT(cases::relativeDistance(values, thrice), 1e-6) << name;
  }
}

TEST_P(CpuNetwork, repeatsItselfBitForBit) {
  const auto cpu = makeCpuBackend();
  const Program program = GetParam().make(5);
  EXPECT_EQ(networks::step(*cpu, program, {.threads = 3}), networks::step(*cpu, program, {.threads = 3}));
}

INSTANTIATE_TEST_SUITE_P(Networks, CpuNetwork, testing::ValuesIn(kNetworks),
                         [](const testing::TestParamInfo<Network>& info) { return std::string(info.param.name); });

// The last, partial batch of an epoch: another executable on the same weights.
TEST(CpuExecutable, twoBatchSizesShareOneStore) {
  const auto cpu = makeCpuBackend(2), reference = makeReferenceBackend();
  ParameterStore mine(11), theirs(11);
  const auto large = cpu->compile(networks::residualNetwork(6), mine, {}),
             small = cpu->compile(networks::residualNetwork(3), mine, {});
  const auto largeReference = reference->compile(networks::residualNetwork(6), theirs, {}),
             smallReference = reference->compile(networks::residualNetwork(3), theirs, {});
  for (const auto& [first, second] :
       {std::pair{&large, &largeReference}, {&small, &smallReference}, {&large, &largeReference}}) {
    for (const auto* executable : {first, second}) {
      networks::fill(**executable, networks::kClasses);
      (*executable)->run({});
    }
    expectNear(networks::collect(**first, mine), networks::collect(**second, theirs), 3e-5);
    // A step of gradient descent, so that packed weights must follow.
    for (ParameterStore* store : {&mine, &theirs}) {
      for (const auto& entry : store->entries()) {
        const std::span<float> value = entry->value.host(), gradient = entry->gradient.host();
        for (std::size_t i = 0; i < gradient.size(); ++i) value[i] -= 0.01f * gradient[i];
        entry->value.changed();
      }
    }
  }
}

TEST(CpuExecutable, aStackOfRecurrentLayersIsReorderedOnceWhereItBegins) {
  const auto cpu = makeCpuBackend(2);
  ParameterStore store(1);
  const Json facts = cpu->compile(networks::stackedLstm(8), store, {})->describe();
  EXPECT_EQ(facts["reorders"], 1);  // the input, which comes by sample
  EXPECT_EQ(facts["operations"][0]["kernel"], "reorder");
}

TEST(CpuExecutable, convolutionsMeetNoReorder) {
  const auto cpu = makeCpuBackend(2);
  ParameterStore store(1);
  const Json facts = cpu->compile(networks::residualNetwork(4), store, {})->describe();
  // The image comes in as N x C x H x W and is brought into the convolutions' layout once; nothing else moves.
  EXPECT_EQ(facts["reorders"], 1);
  EXPECT_EQ(facts["operations"][0]["kernel"], "reorder");
  int convolutions = 0, fusedNormalisations = 0;
  for (const Json& operation : facts["operations"]) {
    const std::string kernel = operation["kernel"];
    if (kernel.starts_with("convolution")) {
      ++convolutions;
      EXPECT_THAT(operation["implementation"].get<std::string>(),
                  testing::AnyOf(testing::HasSubstr("oneDNN"), testing::HasSubstr("own winograd")));
      EXPECT_THAT(operation["implementation"].get<std::string>(), testing::Not(testing::HasSubstr("brgconv_strided")))
          << "oneDNN 3's slow kernel for strided input gradients";
      EXPECT_EQ(operation["layout"], "channels-last");
    }
    fusedNormalisations += kernel == "batch_normalization + add + relu";
  }
  EXPECT_EQ(convolutions, 6 + 5 + 6);  // forward, to the input (not of the first), to the weight
  EXPECT_EQ(fusedNormalisations, 2);
}

// oneDNN wrote behind the scratchpad of one thread into that of another.
TEST(CpuExecutable, aStepIsTheSameEveryTime) {
  const auto backend = makeCpuBackend(3);
  const Program program = networks::thinShortcut(12);
  ParameterStore store(7, backend->makeMemory());
  store.ensure(program.parameters);
  const auto executable = backend->compile(program, store, {.threads = 3});
  networks::fill(*executable, networks::kClasses);
  executable->run({});
  const networks::Outcome first = networks::collect(*executable, store);
  for (int i = 0; i < 200; ++i) {
    executable->run({});
    ASSERT_EQ(networks::collect(*executable, store), first) << "step " << i;
  }
}

// More threads than cores: they come late to their own parts, whose pieces others have taken by then.
TEST(CpuExecutable, piecesAreTheSameWhateverThreadsComputeThem) {
  const Program program = networks::largeParts(512);
  for (const CpuWay halves : {CpuWay::nowhere, CpuWay::wherePossible}) {
    for (const DataType precision : {DataType::f32, DataType::bf16}) {
      SCOPED_TRACE(fmt::format("halved {}, {}", halves == CpuWay::wherePossible, toString(precision)));
      const auto alone = makeCpuBackend(1, {.halves = halves}), crowd = makeCpuBackend(5, {.halves = halves});
      const auto expected = networks::step(*alone, program, {.precision = precision, .threads = 1});
      const auto first = networks::step(*crowd, program, {.precision = precision, .threads = 5});
      expectNear(first, expected, precision == DataType::f32 ? 1e-5 : 2e-3);
      for (int again = 0; again < 4; ++again)
        EXPECT_EQ(networks::step(*crowd, program, {.precision = precision, .threads = 5}), first) << again;
    }
  }
}

// Each part packs its own columns in a room of its own; 3 threads have 2, 3 and 4 panels of 520 columns, or nearly so.
TEST(CpuExecutable, columnsOfWideLayersAreTheSameOnAnyNumberOfThreads) {
  const Program program = networks::wideLayers(12);
  for (const DataType precision : {DataType::f32, DataType::bf16}) {
    SCOPED_TRACE(toString(precision));
    const auto expected = networks::step(*makeCpuBackend(1), program, {.precision = precision, .threads = 1});
    for (const int threads : {2, 3, 4}) {
      auto found = networks::step(*makeCpuBackend(threads), program, {.precision = precision, .threads = threads});
      for (auto& [name, values] : found) {
        if (name.ends_with("bias"))
          EXPECT_LT(cases::relativeDistance(values, expected.at(name)), 1e-5) << name;  // summed by parts
        else
          EXPECT_EQ(values, expected.at(name)) << name << " on " << threads;
      }
    }
  }
}

TEST(CpuExecutable, arenaIsSmallerThanItsTensors) {
  const auto cpu = makeCpuBackend(1);
  const Program program = networks::residualNetwork(32);
  double bytes = 0;
  for (const Tensor& tensor : program.tensors) {
    if (tensor.role == TensorRole::intermediate) bytes += 4.0 * static_cast<double>(tensor.shape.elements());
  }
  ParameterStore store(1);
  EXPECT_LT(cpu->compile(program, store, {})->describe()["arena_bytes"].get<double>(), 0.8 * bytes);
}

// What a step will take is told without weights, slots and arena: by the same plan, to the byte.
TEST_P(CpuNetwork, isMeasuredAsItIsLaidOut) {
  for (const DataType precision : {DataType::f32, DataType::bf16}) {
    const auto cpu = makeCpuBackend(2);
    const CompileOptions options{.precision = precision, .threads = 2};
    const BufferPlan::Extent told = cpu->measure(GetParam().make(6), options);
    ParameterStore store(1);
    const Json facts = cpu->compile(GetParam().make(6), store, options)->describe();
    EXPECT_EQ(told.shared + told.lasting, facts["arena_bytes"].get<std::size_t>());
    EXPECT_EQ(told.lasting, facts["lasting_bytes"].get<std::size_t>());
    EXPECT_GT(told.shared, 0u);
  }
}

// Bringing weights into the kernels' layouts costs a pass over them: an evaluation does it once.
TEST(CpuExecutable, weightsArePackedOnceAChange) {
  const auto cpu = makeCpuBackend(2);
  for (const Network& network : kNetworks) {
    SCOPED_TRACE(network.name);
    ParameterStore store(1);
    const auto executable = cpu->compile(network.make(4), store, {});
    ASSERT_GT(executable->describe()["weight_packs"].get<int>(), 0);
    networks::fill(*executable, networks::kClasses);
    const auto loss = [&] {
      executable->run({});
      return executable->scalarResult("loss");
    };
    const double first = loss();
    for (const auto& entry : store.entries())
      if (!entry->parameter.isState)
        for (float& value : entry->value.host()) value *= 1.5f;
    // Nobody was told of it, so the packed ones stay: biases and other weights that are read where they stand do not.
    const double untold = loss();
    for (const auto& entry : store.entries()) entry->value.changed();
    const double told = loss();
    EXPECT_NE(untold, told);
    for (const auto& entry : store.entries())
      if (!entry->parameter.isState) {
        std::vector<float> values = entry->value.values();
        for (float& value : values) value /= 1.5f;
        entry->value.write(values);
      }
    EXPECT_NEAR(loss(), first, 2e-3 * std::abs(first));
  }
}

// What a backward part changes at every run is packed where it is read, in memory that is others' before and behind; in
// a step of several passes, of few rows, once for all of them.
TEST(CpuExecutable, largeWeightsThatChangeStayNotPacked) {
  const auto reference = makeReferenceBackend();
  for (const auto make : {networks::wideConvolutions, networks::wideRecurrent}) {
    const Program program = make(6);
    const auto expected = networks::step(*reference, program);
    for (const DataType precision : {DataType::f32, DataType::bf16})
      for (const int threads : {1, 3}) {
        const auto cpu = makeCpuBackend();
        const CompileOptions once{.precision = precision, .threads = threads},
            twice{.precision = precision, .threads = threads, .passes = 2};
        const auto found = networks::step(*cpu, program, once);
        EXPECT_EQ(found, networks::step(*cpu, program, twice));
        if (precision == DataType::f32) expectNear(found, expected, 3e-5);
        const BufferPlan::Extent within = cpu->measure(program, once), kept = cpu->measure(program, twice);
        EXPECT_LT(2 * within.lasting, kept.lasting);
        EXPECT_LT(within.lasting + within.shared + kept.lasting / 3, kept.lasting + kept.shared);
      }
  }
}

// Large enough that an arena is more than all else that an executable keeps, a sanitizer's own memory included.
TEST(CpuExecutable, executablesOfABackendShareOneArena) {
  const Program large = networks::smallCnn(512), small = networks::smallCnn(128);
  const auto alone = makeCpuBackend(2), cpu = makeCpuBackend(2);
  ParameterStore store(1), other(1);
  const auto resident = [] {
    std::ifstream statm("/proc/self/statm");
    std::int64_t size = 0, pages = 0;
    statm >> size >> pages;
    return pages * sysconf(_SC_PAGESIZE);
  };
  std::vector<std::unique_ptr<Executable>> all;
  all.push_back(cpu->compile(large, store, {}));
  const Json description = all[0]->describe();
  const auto shared = description["arena_bytes"].get<std::int64_t>() - description["lasting_bytes"].get<std::int64_t>();
  ASSERT_GT(shared, 4 << 20);
  const std::int64_t before = resident();
  for (int i = 0; i < 12; ++i) all.push_back(cpu->compile(i % 2 ? small : large, store, {}));
  EXPECT_LT(resident() - before, 6 * shared) << "twelve arenas";

  // Each computes what it would by itself, whatever the others left in the arena.
  for (const auto& executable : all) networks::fill(*executable, networks::kClasses);
  const auto byItself = alone->compile(large, other, {});
  networks::fill(*byItself, networks::kClasses);
  byItself->run({});
  for (const auto& executable : all) {
    executable->run({});
    if (executable->program().batch != large.batch) continue;
    EXPECT_EQ(executable->scalarResult("loss"), byItself->scalarResult("loss"));
  }
  EXPECT_EQ(all[0]->scalarResult("loss"), byItself->scalarResult("loss")) << "a result stays until its next step";
}

// What was compiled before a larger one still runs.
TEST(CpuExecutable, theArenaGrows) {
  const auto cpu = makeCpuBackend(2);
  ParameterStore store(1);
  const auto small = cpu->compile(networks::smallCnn(4), store, {});
  networks::fill(*small, networks::kClasses);
  small->run({});
  const double loss = small->scalarResult("loss");
  const auto large = cpu->compile(networks::smallCnn(64), store, {});
  networks::fill(*large, networks::kClasses);
  large->run({});
  small->run({});
  EXPECT_EQ(small->scalarResult("loss"), loss);
}

TEST(CpuExecutable, labelOutOfRangeNamesTheRowAndChangesNothing) {
  const auto cpu = makeCpuBackend(2);
  ParameterStore store(1);
  const auto executable = cpu->compile(networks::residualNetwork(4), store, {});
  networks::fill(*executable, networks::kClasses);
  reinterpret_cast<std::int32_t*>(executable->input("y").data())[2] = 9;
  const std::vector<float> before = store.at("bn1/mean").value.values();
  try {
    executable->run({});
    FAIL() << "the label 9 was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::badData);
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("row 2"), testing::HasSubstr("label 9"),
                                             testing::HasSubstr("0 to 4"), testing::HasSubstr("in layer 'loss'")));
  }
  EXPECT_THAT(before, testing::ElementsAreArray(store.at("bn1/mean").value.host()));
  networks::fill(*executable, networks::kClasses);
  executable->run({});  // and goes on
}

TEST(CpuExecutable, indexOutOfRangeNamesRowAndPlace) {
  const auto cpu = makeCpuBackend(2);
  ParameterStore store(1);
  const auto executable = cpu->compile(networks::transformerBlock(2), store, {});
  networks::fill(*executable, networks::kClasses);
  reinterpret_cast<std::int32_t*>(executable->input("x").data())[50 + 7] = -1;
  try {
    executable->run({});
    FAIL() << "the index -1 was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::badData);
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("row 1"), testing::HasSubstr("place 7"),
                                             testing::HasSubstr("index -1")));
  }
}

TEST(CpuExecutable, notANumberGoesThrough) {
  const auto cpu = makeCpuBackend(2);
  ParameterStore store(1);
  const auto executable = cpu->compile(networks::smallCnn(4), store, {});
  networks::fill(*executable, networks::kClasses);
  reinterpret_cast<float*>(executable->input("x").data())[17] = std::numeric_limits<float>::quiet_NaN();
  executable->run({});
  EXPECT_TRUE(std::isnan(executable->scalarResult("loss")));
}

TEST(CpuExecutable, otherPrecisionsAreRefused) {
  const auto cpu = makeCpuBackend(1);
  ParameterStore store(1);
  try {
    cpu->compile(networks::perceptron(2), store, {.precision = DataType::f16});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::device);
    EXPECT_THAT(error.what(), testing::HasSubstr("f32 and bf16, but precision is f16"));
  }
}

// All gradients behind each other.
std::vector<float> joined(const networks::Outcome& outcome) {
  std::vector<float> all;
  for (const auto& [name, values] : outcome)
    if (name.starts_with("gradient")) all.insert(all.end(), values.begin(), values.end());
  return all;
}

// Rounding moves each factor by up to 2^-9 of itself; what it does to a gradient adds up over the layers, most where a
// normalisation over six samples takes out the greater part of it.
TEST_P(CpuNetwork, inBf16StaysNearTheReference) {
  const Program program = GetParam().make(6);
  const auto cpu = makeCpuBackend(), reference = makeReferenceBackend();
  const auto expected = networks::step(*reference, program);
  const auto one = networks::step(*cpu, program, {.precision = DataType::bf16, .threads = 1});
  EXPECT_LT(cases::relativeDistance(joined(one), joined(expected)), 0.15);
  expectNear({{"loss", one.at("loss")}}, {{"loss", expected.at("loss")}}, 1e-2);
  EXPECT_NE(one, networks::step(*cpu, program, {.threads = 1})) << "nothing was rounded";
  EXPECT_EQ(one, networks::step(*cpu, program, {.precision = DataType::bf16, .threads = 1}));
}

// Where oneDNN has kernels all three convolutions compute in bf16 (or, by Winograd's transforms, between numbers in
// bf16), and activations and their gradients stand so in memory.
TEST(CpuExecutable, activationsAreKeptInBf16) {
  const auto cpu = makeCpuBackend(2);
  ParameterStore store(1);
  const Json facts = cpu->compile(networks::residualNetwork(4), store, {.precision = DataType::bf16})->describe();
  EXPECT_EQ(facts["precision"], "bf16");
  if (facts["isa"] != "avx512") GTEST_SKIP() << "oneDNN multiplies no bf16 on this processor";
  int inBf16 = 0, roundings = 0;
  for (const Json& operation : facts["operations"]) {
    const std::string kernel = operation["kernel"];
    inBf16 += kernel.starts_with("convolution") &&
              (kernel.find("in bf16") != kernel.npos ||
               operation["implementation"].get<std::string>().starts_with("own winograd"));
    roundings += kernel == "round to bf16";
    EXPECT_THAT(operation["implementation"].get<std::string>(), testing::Not(testing::HasSubstr("ref")));
  }
  EXPECT_GE(inBf16, 12);    // of 17
  EXPECT_LE(roundings, 4);  // the image, and where something knows no bf16: everything between stands in it
  const auto bytes = [&](DataType precision) {
    return cpu->compile(networks::residualNetwork(64), store, {.precision = precision})->describe()["arena_bytes"];
  };
  EXPECT_LT(bytes(DataType::bf16).get<double>(), 0.65 * bytes(DataType::f32).get<double>());
}

// Every operation takes what the one before it gives, without a pass that only changes the type, and that is in bf16
// but for logits, statistics and the stream to which residual blocks add.
TEST(CpuExecutable, nothingIsConvertedBetweenOperationsInBf16) {
  const auto cpu = makeCpuBackend(2);
  for (const auto make : {networks::perceptron, networks::stackedLstm, networks::transformerBlock}) {
    ParameterStore store(1);
    const auto executable = cpu->compile(make(8), store, {.precision = DataType::bf16});
    const Json facts = executable->describe();
    if (facts["isa"] != "avx512") GTEST_SKIP() << "nothing is kept in bf16 on this processor";
    for (const Json& operation : facts["operations"])
      EXPECT_THAT(operation["kernel"].get<std::string>(), testing::Not(testing::AnyOf("widen", "round to bf16")))
          << operation["origin"];
    double numbers = 0, bytes = 0;
    for (const Tensor& tensor : executable->program().tensors) {
      if (tensor.role != TensorRole::intermediate) continue;
      const auto elements = static_cast<double>(tensor.shape.elements());
      numbers += elements, bytes += elements * static_cast<double>(bytesOf(tensor.type));
    }
    EXPECT_LT(bytes, 2.5 * numbers);
  }
}

TEST(CpuExecutable, unknownNamesAreNamed) {
  const auto cpu = makeCpuBackend(1);
  ParameterStore store(1);
  const auto executable = cpu->compile(networks::perceptron(2), store, {});
  EXPECT_THROW(executable->input("z"), Error);
  EXPECT_THROW(executable->scalarResult("accuracy"), Error);
}

TEST(CpuExecutable, aNotANumberIsNeverRight) {
  const auto cpu = makeCpuBackend(2);
  ParameterStore store(1);
  ProgramBuilder builder(4, 1, false);
  const TensorId p = builder.input("p", {4}, DataType::f32), target = builder.input("target", {4}, DataType::f32);
  builder.result("share", ResultKind::metric, builder.add("binary_accuracy", {p, target}));
  const auto executable = cpu->compile(builder.take(), store, {});
  const float nan = std::numeric_limits<float>::quiet_NaN(), values[] = {0.9f, 0.1f, nan, nan},
              targets[] = {1, 0, 0, 1};
  std::memcpy(executable->input("p").data(), values, sizeof values);
  std::memcpy(executable->input("target").data(), targets, sizeof targets);
  executable->run({});
  EXPECT_EQ(executable->scalarResult("share"), 0.5);
}

// Not even where every class is among the k best.
TEST(CpuExecutable, aNotANumberIsNeverAmongTheBest) {
  const auto cpu = makeCpuBackend(2);
  for (const std::int64_t k : {1, 2, 3}) {
    ParameterStore store(1);
    ProgramBuilder builder(3, 1, false);
    const TensorId logits = builder.input("logits", {3, 3}, DataType::f32), y = builder.input("y", {3}, DataType::i32);
    builder.result("share", ResultKind::metric, builder.add("top_k_accuracy", {logits, y}, {{"k", k}}));
    const auto executable = cpu->compile(builder.take(), store, {});
    const float nan = std::numeric_limits<float>::quiet_NaN(), values[] = {nan, 1, 2, 3, 1, 2, nan, nan, nan};
    const std::int32_t labels[] = {0, 0, 2};
    std::memcpy(executable->input("logits").data(), values, sizeof values);
    std::memcpy(executable->input("y").data(), labels, sizeof labels);
    executable->run({});
    EXPECT_FLOAT_EQ(static_cast<float>(executable->scalarResult("share")), 1.0f / 3) << k;
  }
}

TEST(CpuExecutable, theFirstOfEqualsComesFirstAndNotANumberBeforeAll) {
  const auto cpu = makeCpuBackend(1);
  ParameterStore store(1);
  ProgramBuilder builder(1, 1, false);
  const std::vector<TensorId> found =
      builder.emit("top_k", {builder.input("x", {1, 5}, DataType::f32)}, {{"k", std::int64_t{4}}});
  builder.result("places", ResultKind::output, found[1]);
  const auto executable = cpu->compile(builder.take(), store, {});
  const float values[] = {1, 3, 3, std::numeric_limits<float>::quiet_NaN(), 3};
  std::memcpy(executable->input("x").data(), values, sizeof values);
  executable->run({});
  std::vector<float> places(4);
  executable->readResult("places", places);
  EXPECT_THAT(places, testing::ElementsAre(3, 1, 2, 4));
}

// What an exchange between ranks throws while all threads are inside of an operation.
TEST(CpuExecutable, anExceptionInAStageEndsTheStepAndNotTheProcess) {
  struct Failing final : Collectives {
    int ranks() const override { return 2; }
    void post(int) override { throw Error(ErrorCode::communication, "rank 1 is gone"); }
    void gather(std::span<const double>, std::span<double>) override { post(0); }
    RankGroup* group(std::string_view) override { return nullptr; }
  } collectives;
  for (const int threads : {1, 2, 5}) {
    const auto cpu = makeCpuBackend(threads);
    ParameterStore store(1);
    Program program = networks::smallCnn(4);
    exchangeGradients(program, planBuckets(program, 1 << 20));
    const auto executable = cpu->compile(std::move(program), store, {.collectives = &collectives});
    networks::fill(*executable, networks::kClasses);
    for (int time = 0; time < 2; ++time) {
      try {
        executable->run({.exchange = true});
        FAIL() << "the step went on";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::communication);
      }
    }
    executable->run({.exchange = false});  // and goes on
  }
}

}  // namespace
}  // namespace loom
