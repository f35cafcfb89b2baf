#include "engine/data/prepare_step.h"

#include <algorithm>
#include <set>

#include "engine/base/error.h"
#include "engine/catalogue/names.h"
#include "engine/data/columns/column_step.h"
#include "engine/data/prepare.h"

namespace loom {

bool isSound(const Json& step, const PrepareStep& kind) {
  const std::vector<FieldProblem> problems = validate(kind.entry, step, {"step"});
  return std::none_of(problems.begin(), problems.end(),
                      [](const FieldProblem& problem) { return problem.severity == FieldProblem::Severity::error; });
}

std::vector<const Entry*> prepareEntries() {
  std::vector<const Entry*> entries;
  for (const ColumnStepDefinition* kind : columnSteps()) entries.push_back(&kind->entry);
  for (const PrepareStep* kind : stepTable()) entries.push_back(&kind->entry);
  return entries;
}

const PrepareStep& prepareStep(const Json& step) {
  if (!step.is_object() || !step.contains("step") || !step["step"].is_string())
    throwError(ErrorCode::badProject,
               "a step of prepare is {}, but an object such as {{\"step\": \"Scale\"}} is needed",
               step.dump().substr(0, 100));
  const std::string& name = step["step"].get_ref<const std::string&>();
  const PrepareStep* const found = findNamed(stepTable(), name);
  if (!found) {
    const std::vector<std::string> known = idsOf(stepTable());
    const std::string near = nearest(name, known);
    std::string all;
    for (const std::string& id : known) all += (all.empty() ? "" : ", ") + id;
    throwError(ErrorCode::badProject, "unknown step '{}' of prepare: {}", name,
               near.empty() ? "known are " + all : "did you mean '" + near + "'?");
  }
  for (const FieldProblem& problem : validate(found->entry, step, {"step"})) {
    if (problem.severity == FieldProblem::Severity::error)
      throwError(ErrorCode::badProject, "step {} of prepare: {}", found->entry.id, problem.message);
  }
  return *found;
}

const PrepareStep* sampleStep(const Json& step) {
  return step.is_object() && step.contains("step") && step["step"].is_string()
             ? findNamed(stepTable(), step["step"].get_ref<const std::string&>())
             : nullptr;
}

bool appliesTo(const Json& step, const PrepareStep& kind, const Variable& variable) {
  const std::vector<std::string> names = Values(kind.entry, step).texts("variable");
  if (!names.empty()) return std::find(names.begin(), names.end(), variable.name) != names.end();
  if (variable.kind == VariableKind::scalar) return false;
  switch (kind.means) {
    case PrepareStep::Means::values:
      return true;
    case PrepareStep::Means::samples:
      return variable.kind != VariableKind::vector;
    case PrepareStep::Means::pictures:
      return layoutOf(variable, variable.shape).image;
    case PrepareStep::Means::sounds:
      return variable.kind == VariableKind::wave;
  }
  return false;
}

bool normalises(const Json& step, const Variable& variable) {
  try {
    const PrepareStep& kind = prepareStep(step);
    return kind.measured && appliesTo(step, kind, variable);
  } catch (const Error&) {
    return false;
  }
}

std::vector<std::shared_ptr<const PictureStep>> stepsBeforePacking(const std::string& variable,
                                                                   const std::vector<Json>& prepare) {
  // What a picture becomes does not depend on its own size, so any will do.
  class Gathering : public PreparationPlan {
   public:
    explicit Gathering(const Variable& of) : PreparationPlan(of, false) {
      image = true;
      rows = columns = {1, 1 << 16};
      channels = {1, 4};
    }
    void move(WindowStep, std::optional<double>) override {}
    void compute(std::shared_ptr<const PictureStep> step) override { steps.push_back(std::move(step)); }
    std::vector<std::shared_ptr<const PictureStep>> steps;
  };
  const Variable picture{.name = variable, .kind = VariableKind::image, .shape = {3, 1, 1}, .smallest = {3, 1, 1}};
  Gathering gathering(picture);
  for (const Json& step : prepare) {
    const PrepareStep* const kind = sampleStep(step);
    if (!kind) continue;
    if (!isSound(step, *kind)) break;
    if (kind->means == PrepareStep::Means::sounds || !appliesTo(step, *kind, picture)) continue;
    if (!kind->beforePacking) break;
    kind->add(Values(kind->entry, step), gathering);
  }
  return std::move(gathering.steps);
}

std::string packingKey(const std::vector<Json>& prepare) {
  std::string key;
  std::set<std::string> done;  // variables that another kind of step takes before
  bool all = false;            // such a step takes every picture
  for (const Json& step : prepare) {
    const PrepareStep* const kind = sampleStep(step);
    if (!kind) continue;
    if (!isSound(step, *kind)) break;
    const std::vector<std::string> names = Values(kind->entry, step).texts("variable");
    if (kind->beforePacking) {
      if (all && kind->means != PrepareStep::Means::sounds) continue;
      key += step.dump();
      for (const std::string& name : done) key += "|" + name;
    } else if (names.empty()) {
      all = true;
    } else {
      done.insert(names.begin(), names.end());
    }
  }
  return key;
}

Field variableField() {
  return {.key = "variable",
          .label = "Columns",
          .help =
              "The columns, or vectors of columns, that it applies to, each by itself. Without one: every column that "
              "is no single number, so that labels stay as they are.",
          .type = FieldType::texts,
          .optional = true,
          .absent = "all but single numbers"};
}

SizeGiven sizeGiven(const Values& given, std::string_view key, const PreparationPlan& plan) {
  const auto numbers = given.integers(key, plan.image ? 2 : 1);
  return {plan.image ? numbers[0] : 0, numbers.back()};
}

void needImage(const PreparationPlan& plan, std::string_view does) {
  if (!plan.image)
    throwError(ErrorCode::badProject, "it {} images, but {} is a {}", does, plan.variable.name,
               toString(plan.variable.kind));
}

void Picture::make(DataType of, std::int64_t planes, std::int64_t height, std::int64_t width) {
  type = of;
  channels = planes;
  rows = height;
  columns = width;
  bytes.resize(static_cast<std::size_t>(planes * height * width) * bytesOf(of));
}

Philox::Block SampleDraw::words(int time) const {
  const std::uint64_t stream = hashName(kPrepareStream) + static_cast<std::uint64_t>(time);
  return Philox(seed, stream)(static_cast<std::uint64_t>(row), windowCounter(epoch, number));
}

}  // namespace loom
