// Operators by themselves, beside what onnxruntime gives (data/make_operators.py): a file is imported so that it gives
// the same numbers over the whole range of its inputs, or the operator is refused by its name; never anything between.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/json.h"
#include "engine/exchange/importer.h"
#include "engine/exchange/onnx/export.h"
#include "engine/network/flatten.h"
#include "tests/engine/exchange/onnx/run_network.h"

namespace loom {
namespace {

namespace fs = std::filesystem;

std::string fromBase64(const std::string& text) {
  std::string bytes;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char letter : text) {
    const std::uint32_t value = letter >= 'A' && letter <= 'Z'   ? static_cast<std::uint32_t>(letter - 'A')
                                : letter >= 'a' && letter <= 'z' ? static_cast<std::uint32_t>(letter - 'a' + 26)
                                : letter >= '0' && letter <= '9' ? static_cast<std::uint32_t>(letter - '0' + 52)
                                : letter == '+'                  ? 62U
                                                                 : 63U;
    if (letter == '=') break;
    bits = bits << 6 | value;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes += static_cast<char>(bits >> held & 0xff);
  }
  return bytes;
}

NamedValues valuesOf(const Json& json) {
  const std::string bytes = fromBase64(json.at(1).get<std::string>());
  NamedValues values{.shape = Shape(json.at(0).get<std::vector<std::int64_t>>()), .values = {}};
  values.values.resize(bytes.size() / sizeof(float));
  std::memcpy(values.values.data(), bytes.data(), values.values.size() * sizeof(float));
  return values;
}

// The first place where they differ, as text; empty where none is.
std::string difference(const std::vector<float>& given, const std::vector<float>& wanted) {
  if (given.size() != wanted.size()) return fmt::format("{} numbers instead of {}", given.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double a = given[i], b = wanted[i];
    const bool same = std::isnan(b)   ? std::isnan(a)
                      : std::isinf(b) ? a == b
                                      : std::abs(a - b) <= 3e-6 + 1e-5 * std::abs(b);
    if (!same) return fmt::format("{} instead of {} at place {}", a, b, i);
  }
  return {};
}

struct Outcome {
  enum class Kind { same, refused, wrong } kind = Kind::same;
  std::string why;
};

class OnnxOperators : public testing::Test {
 protected:
  OnnxOperators() { fs::create_directories(m_folder); }
  ~OnnxOperators() override {
    std::error_code none;
    fs::remove_all(m_folder, none);
  }

  Outcome outcomeOf(const Json& line, const Json& pool) {
    const fs::path file = m_folder / "case.onnx";
    writeFileAtomically(file, fromBase64(line.at("model").get<std::string>()));
    try {
      const Imported imported = importFile({.file = file});
      if (!imported.report.complete()) return refusal(imported, line);
      const Network network = flatNetwork(imported.project, imported.project.networks.at(0).name);
      ValuesByName inputs;
      for (const Json& name : line.at("in")) {
        const std::string key = name.get<std::string>();
        NamedValues values = valuesOf(pool.at(key));
        inputs[key.substr(0, key.find(':'))] = std::move(values);
      }
      const ValuesByName outputs = runNetwork(network, &imported.weights, inputs);
      std::string why;
      for (const Json& json : line.at("out")) {
        const NamedValues wanted = valuesOf(json);
        bool found = false;
        for (const auto& [name, given] : outputs) {
          const std::string differs = difference(given.values, wanted.values);
          found = found || differs.empty();
          if (!differs.empty() && why.empty()) why = differs;
        }
        if (!found) return {Outcome::Kind::wrong, why.empty() ? "no output" : why};
      }
      if (outputs.size() != line.at("out").size())
        return {Outcome::Kind::wrong, fmt::format("{} outputs", outputs.size())};
      exported(network, imported, line.at("name").get<std::string>());
      return {};
    } catch (const Error& error) {
      return {Outcome::Kind::wrong, error.what()};
    }
  }

 private:
  // The operator is named, and what stands in its place has the extents that onnxruntime gave.
  static Outcome refusal(const Imported& imported, const Json& line) {
    std::string why;
    bool named = false;
    for (const ReportItem& item : imported.report.items) {
      if (item.kind != ReportItem::Kind::untranslatable) continue;
      named = named || item.layer.find(line.at("op").get<std::string>()) != item.layer.npos;
      if (why.empty()) why = item.sentence;
    }
    if (!named) return {Outcome::Kind::wrong, "refused without its name: " + why};
    for (const Node& node : imported.project.networks.at(0).nodes) {
      if (node.id.find("_stand_in") == node.id.npos) continue;
      bool fits = false;
      for (const Json& json : line.at("out")) {
        const Shape shape(json.at(0).get<std::vector<std::int64_t>>());
        const Shape sample(node.values.at("shape").get<std::vector<std::int64_t>>());
        fits = fits || shape.elements() % sample.elements() == 0;
      }
      if (!fits) return {Outcome::Kind::wrong, "its stand-in has another shape"};
    }
    return {Outcome::Kind::refused, why};
  }

  // What was imported can be exported. A folder in GRADLOOM_ONNX_EXPORTS keeps the files.
  void exported(const Network& network, const Imported& imported, const std::string& name) const {
    const char* kept = std::getenv("GRADLOOM_ONNX_EXPORTS");
    const WeightSource weights = [&](const Parameter& parameter) {
      for (const ImportedWeight& weight : imported.weights)
        if (weight.name == parameter.name) return weight.values;
      throw Error(ErrorCode::internal, "no weight " + parameter.name);
    };
    std::string clean = name;
    std::replace(clean.begin(), clean.end(), '/', '_');
    writeOnnx(network, weights, {}, kept ? fs::path(kept) / (clean + ".onnx") : m_folder / "exported.onnx");
  }

  fs::path m_folder = fs::temp_directory_path() / fmt::format("gradloom-onnx-operators-{}", ::getpid());
};

TEST_F(OnnxOperators, GiveOnnxruntimesNumbersOrAreRefusedByName) {
  const char* named = std::getenv("GRADLOOM_ONNX_CASES");
  std::ifstream file(named ? fs::path(named) : kOnnxData / "operators.jsonl");
  std::string text;
  ASSERT_TRUE(std::getline(file, text));
  const Json pool = parseJson(text, "the inputs");
  std::map<std::string, std::pair<int, int>> counts;  // translated, refused by operator
  int translated = 0;
  while (std::getline(file, text)) {
    const Json line = parseJson(text, "a case");
    const std::string name = line.at("name").get<std::string>(), op = line.at("op").get<std::string>();
    const Outcome outcome = outcomeOf(line, pool);
    EXPECT_NE(outcome.kind, Outcome::Kind::wrong) << name << ": " << outcome.why;
    translated += outcome.kind == Outcome::Kind::same ? 1 : 0;
    ++(outcome.kind == Outcome::Kind::same ? counts[op].first : counts[op].second);
    if (named && outcome.kind == Outcome::Kind::refused) std::cout << "refused " << name << ": " << outcome.why << '\n';
  }
  if (named)
    for (const auto& [op, count] : counts)
      std::cout << op << ": " << count.first << " the same, " << count.second << " refused\n";
  else
    EXPECT_GE(translated, 300);  // so many can be expressed here: a rule that refuses too much is a fault as well
}

}  // namespace
}  // namespace loom
