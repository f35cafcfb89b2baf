// Engines are timed once on a device, kept, and read again; what others found does not count; a file that is none is
// left alone.
#include "engine/cuda/engine_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/json.h"
#include "engine/cuda/call_keys.h"
#include "engine/cuda/device.h"

namespace loom::cuda {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A device whose engines take so long each.
class FakeEngines final : public Engines {
 public:
  explicit FakeEngines(std::vector<double> seconds) : m_seconds(std::move(seconds)) {}
  std::vector<Engine> offered(int first, int most) override {
    asked.push_back(most);
    std::vector<Engine> some;
    for (int k = first; k < static_cast<int>(m_seconds.size()) && k - first < most; ++k)
      if (!cannotBeMade.contains(k)) some.push_back({k, "engine " + std::to_string(k + number)});
    if (some.empty()) throwError(ErrorCode::device, "no engine computes it");
    return some;
  }
  double seconds(const Engine& engine) override {
    timed.push_back(engine.place);
    const double seconds = m_seconds.at(static_cast<std::size_t>(engine.place));
    if (seconds < 0) throwError(ErrorCode::device, "there is no memory for it");
    lost = engine.place == breaksDevice;
    if (lost) throwError(ErrorCode::device, "an illegal memory access was encountered");
    return seconds;
  }
  void expectDevice() override {
    if (lost) throwError(ErrorCode::device, "the context is gone");
  }
  std::vector<int> asked, timed;
  std::set<int> cannotBeMade;
  int number = 10, breaksDevice = -1;
  bool lost = false;

 private:
  std::vector<double> m_seconds;
};

class CudaEngineChoice : public testing::Test {
 protected:
  CudaEngineChoice() {
    std::string name = (std::filesystem::temp_directory_path() / "gradloom-engines-XXXXXX").string();
    m_folder = mkdtemp(name.data());
  }
  ~CudaEngineChoice() override { std::filesystem::remove_all(m_folder); }
  std::filesystem::path file() const { return m_folder / "cache" / "engines.json"; }
  EngineChoice choice(const std::string& machine = "H200, cuDNN 9.19", bool times = true) {
    return EngineChoice(machine, {.times = times, .file = file(), .warn = [this](const std::string& text) {
                                    m_warnings.push_back(text);
                                  }});
  }
  void write(const std::string& text) {
    std::filesystem::create_directories(file().parent_path());
    std::ofstream(file()) << text;
  }
  std::filesystem::path m_folder;
  std::vector<std::string> m_warnings;
};

TEST_F(CudaEngineChoice, TimesOnceAndKeepsTheFastest) {
  FakeEngines engines({3e-3, 2e-3, 1e-3, 4e-3, 0.5e-3});
  EngineChoice first = choice();
  EXPECT_EQ(first.choose("a graph", engines).place, 2) << "the fifth is not asked for";
  EXPECT_THAT(engines.timed, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(first.choose("a graph", engines).name, "engine 12");
  EXPECT_EQ(engines.timed.size(), 4U) << "once";

  // Another process.
  FakeEngines others({3e-3, 2e-3, 1e-3, 4e-3, 0.5e-3});
  EXPECT_EQ(choice().choose("a graph", others).place, 2);
  EXPECT_THAT(others.timed, IsEmpty());
  EXPECT_THAT(others.asked, ElementsAre(1)) << "only the one that was kept is made";
  EXPECT_EQ(choice().choose("another graph", others).place, 2);
  EXPECT_EQ(others.timed.size(), 4U);
  EXPECT_THAT(m_warnings, IsEmpty());
  // For people, and for bug reports.
  const Json kept = parseJson(readFile(file()), "kept");
  EXPECT_EQ(kept["machines"]["H200, cuDNN 9.19"]["a graph"]["engine"], "engine 12");
  EXPECT_EQ(kept["machines"]["H200, cuDNN 9.19"]["a graph"]["microseconds"], Json({3000.0, 2000.0, 1000.0, 4000.0}));
}

TEST_F(CudaEngineChoice, IsMadeAnewForOtherVersionsAndDevices) {
  FakeEngines engines({2e-3, 1e-3});
  choice().choose("a graph", engines);
  FakeEngines newer({1e-3, 2e-3});
  EXPECT_EQ(choice("H200, cuDNN 9.20").choose("a graph", newer).place, 0);
  EXPECT_THAT(newer.timed, ElementsAre(0, 1));
  // Those of before are still known, also where both were read before either wrote.
  EngineChoice one = choice(), other = choice("H200, cuDNN 9.20");
  one.choose("b", engines);
  other.choose("b", newer);
  FakeEngines none({1, 1});
  EXPECT_EQ(choice().choose("b", none).place, 1);
  EXPECT_EQ(choice("H200, cuDNN 9.20").choose("b", none).place, 0);
  EXPECT_THAT(none.timed, IsEmpty());
}

TEST_F(CudaEngineChoice, IsMadeAnewWhereTheLibraryNoLongerOffersTheSame) {
  FakeEngines engines({2e-3, 1e-3});
  choice().choose("a graph", engines);
  FakeEngines renamed({1e-3, 2e-3}), refused({1e-3, 2e-3});
  renamed.number = 20;
  EXPECT_EQ(choice().choose("a graph", renamed).name, "engine 20");
  EXPECT_THAT(renamed.timed, ElementsAre(0, 1));
  choice().choose("b", engines);
  refused.cannotBeMade = {1};
  EXPECT_EQ(choice().choose("b", refused).place, 0);
}

TEST_F(CudaEngineChoice, StaysWithTheFavouriteUnlessAnotherIsClearlyFaster) {
  FakeEngines engines({1e-3, 0.99e-3, 0.995e-3});
  EXPECT_EQ(choice().choose("a graph", engines).place, 0);
}

TEST_F(CudaEngineChoice, TakesTheFavouriteUntimedWhereRunsMustNotDiffer) {
  FakeEngines engines({2e-3, 1e-3});
  EXPECT_EQ(choice("H200", true).choose("a graph", engines).place, 1);
  FakeEngines others({2e-3, 1e-3});
  EXPECT_EQ(choice("H200", false).choose("a graph", others).place, 0) << "whatever was kept";
  EXPECT_THAT(others.timed, IsEmpty());
  EXPECT_THAT(others.asked, ElementsAre(1));
}

TEST_F(CudaEngineChoice, PassesOverWhatCannotBeRunAndKeepsNothingOfNothing) {
  FakeEngines engines({-1, 2e-3, 1e-3}), none({-1, -1});
  EXPECT_EQ(choice().choose("a graph", engines).place, 2);
  EXPECT_EQ(choice().choose("b", none).place, 0);
  EXPECT_EQ(readFile(file()).find("\"b\""), std::string::npos);
  FakeEngines nothing({});
  EXPECT_THROW(choice().choose("c", nothing), Error);
}

TEST_F(CudaEngineChoice, LeavesAFileAloneThatIsNoneOfIts) {
  for (const char* text :
       {"", "{\"gradloom_engines\": 1, \"machines\": {\"H2", "[1, 2]", "{\"gradloom_engines\": 2, \"machines\": {}}",
        "{\"gradloom_engines\": 1, \"machines\": {\"H200\": {\"a graph\": {\"place\": \"x\"}}}}"}) {
    SCOPED_TRACE(text);
    m_warnings.clear();
    write(text);
    EngineChoice one = choice();
    FakeEngines engines({2e-3, 1e-3});
    EXPECT_EQ(one.choose("a graph", engines).place, 1);
    EXPECT_EQ(one.choose("a graph", engines).place, 1);
    EXPECT_EQ(engines.timed.size(), 2U) << "known as long as the process runs";
    EXPECT_THAT(m_warnings, ElementsAre(HasSubstr("Move it away")));
    EXPECT_EQ(readFile(file()), text);
  }
}

TEST_F(CudaEngineChoice, GoesOnWhereNothingCanBeKept) {
  std::ofstream(m_folder / "cache") << "no folder";
  EngineChoice one = choice();
  FakeEngines engines({2e-3, 1e-3});
  EXPECT_EQ(one.choose("a graph", engines).place, 1);
  EXPECT_EQ(one.choose("b", engines).place, 1);
  EXPECT_THAT(m_warnings, ElementsAre(HasSubstr("cannot be kept")));
}

// Whatever is asked of the device next would be blamed.
TEST_F(CudaEngineChoice, AnEngineThatBreaksTheDeviceIsNamed) {
  EngineChoice one = choice();
  FakeEngines engines({2e-3, 3e-3, 1e-3});
  engines.breaksDevice = 1;
  try {
    one.choose("a graph", engines);
    FAIL() << "it goes on";
  } catch (const DeviceLost& error) {
    EXPECT_EQ(error.code(), ErrorCode::device);
    for (const char* part : {"'engine 11'", "for a graph", "illegal memory access", "the context is gone"})
      EXPECT_THAT(error.what(), HasSubstr(part));
  }
  EXPECT_THAT(engines.timed, ElementsAre(0, 1));
  EXPECT_FALSE(std::filesystem::exists(file())) << "nothing was learnt";
}

// What two calls that compute differently have in common would be one's engine for the other.
TEST(CudaCallKeys, TellApartWhatIsComputedOtherwise) {
  DnnGraph graph{
      .tensors = {{0, {1, 2, 3, 4}, {24, 1, 8, 2}}, {1, {5, 2, 1, 1}, {2, 1, 2, 2}}, {2, {1, 5, 3, 4}, {60, 1, 20, 5}}},
      .operations = {DnnConvolution{DnnConvolution::Kind::forward, {1, 1}, {0, 0}, {0, 0}, {1, 1}, 0, 1, 2}}};
  std::set<std::string> keys{keyOf(graph)};
  const auto isNew = [&](const DnnGraph& other) { return keys.insert(keyOf(other)).second; };
  DnnGraph other = graph;
  EXPECT_FALSE(isNew(other));
  other.tf32 = true;
  EXPECT_TRUE(isNew(other));
  other.tensors[1].type = DataType::bf16;
  EXPECT_TRUE(isNew(other));
  other.tensors[2].strides = {60, 12, 4, 1};
  EXPECT_TRUE(isNew(other));
  std::get<DnnConvolution>(other.operations[0]).after = {1, 0};
  EXPECT_TRUE(isNew(other));
  other.operations.emplace_back(DnnPointwise{DnnPointwise::Mode::relu, 2, -1, 3});
  EXPECT_TRUE(isNew(other));

  alignas(256) std::byte memory[512];
  MatmulCall product{.m = 2, .n = 3, .k = 4, .lda = 2, .ldb = 4, .ldc = 2, .a = memory, .b = memory, .c = memory};
  const auto isNewProduct = [&](const MatmulCall& one) { return keys.insert(keyOf(one)).second; };
  EXPECT_TRUE(isNewProduct(product));
  product.c = memory + 256;
  EXPECT_FALSE(isNewProduct(product)) << "another place of the same alignment";
  product.c = memory + 16;
  EXPECT_TRUE(isNewProduct(product));
  product.alpha = 2;
  EXPECT_FALSE(isNewProduct(product)) << "a factor changes no engine";
  product.beta = 1;
  EXPECT_TRUE(isNewProduct(product));
  product.transposeA = true;
  EXPECT_TRUE(isNewProduct(product));
}

}  // namespace
}  // namespace loom::cuda
