// A trained run for other tools: its numbers go back to the unit of their column, and what goes in is told.
#include "engine/training/export_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "engine/training/target_unit.h"
#include "tests/engine/training/fixture.h"

namespace loom {
namespace {

using testing::HasSubstr;

double through(const std::vector<UnitStep>& steps, double value, std::size_t element) {
  for (const UnitStep& step : steps)
    value = step.kind == UnitStep::Kind::linear        ? value * step.by[element] + step.add[element]
            : step.kind == UnitStep::Kind::exponential ? std::exp(value)
                                                       : std::expm1(value);
  return value;
}

// A graph's steps give what a prediction gives, whatever was done to the column.
TEST(ExportRun, StepsOfAGraphAreTheWayBackOfAPrediction) {
  const Json log = {{"step", "Log"}, {"variable", "y"}, {"function", "log1p"}},
             standardise = {{"step", "Standardise"}, {"variable", "y"}, {"mean", 3.5}, {"deviation", 0.25}},
             normalise = {{"step", "Normalise"}, {"variable", "y"}, {"mean", {0.5}}, {"deviation", {4.0}}};
  const Variable y{.name = "y", .label = {}, .kind = VariableKind::scalar, .shape = {1}, .elementLabels = {}};
  for (const std::vector<Json>& prepare :
       {std::vector<Json>{}, std::vector<Json>{standardise}, std::vector<Json>{log, standardise},
        std::vector<Json>{standardise, log}, std::vector<Json>{log, standardise, normalise}}) {
    const TargetUnit unit(y, prepare);
    const auto steps = unit.steps(1);
    ASSERT_TRUE(steps);
    EXPECT_EQ(steps->empty(), prepare.empty());
    for (const float value : {-1.5F, 0.0F, 0.75F}) {
      std::vector<float> values{value};
      unit.restore(values);
      EXPECT_NEAR(through(*steps, value, 0), values[0], 1e-4 * std::max(1.0F, std::fabs(values[0])));
    }
  }
}

TEST(ExportRun, ClassesAndPreparedInputsAreTold) {
  const Workshop workshop("export-run", 60);
  Json project = perceptron();
  project["training"]["epochs"] = 1;
  project["datasets"]["training"]["prepare"] = Json::array({{{"step", "Normalise"}, {"variable", "x"}}});
  const auto run = workshop.train(project, "run");
  const ExportSource source = exportSourceOf(TrainedRun(run.folder));
  EXPECT_TRUE(source.units.empty());
  const std::vector<std::string> notes = exportNotes(source, true);
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_THAT(notes[0], HasSubstr("input 'x' takes 3 numbers that Normalise (mean "));
  EXPECT_THAT(notes[1], HasSubstr("gives the scores of y: softmax makes shares of them"));
  EXPECT_TRUE(source.preparation["steps"][0]["mean"].is_array()) << "what was fitted travels along";
}

}  // namespace
}  // namespace loom
