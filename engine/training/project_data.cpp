#include "engine/training/project_data.h"

#include <algorithm>
#include <chrono>

#include "engine/base/error.h"
#include "engine/data/columns/resolve.h"
#include "engine/data/columns/target_meaning.h"
#include "engine/data/pack.h"
#include "engine/data/percent_columns.h"
#include "engine/data/raw_rows.h"
#include "engine/data/stats.h"
#include "engine/network/dataset_rows.h"

namespace loom {
namespace {

// By variable: the words of class 0, 1, 2 ..., for whoever reads a prediction where the data are not.
Json wordsOfClasses(const OpenedDataset& opened) {
  Json words = Json::object();
  for (const Variable& variable : opened.data->schema().variables)
    if (variable.kind == VariableKind::scalar) {
      std::vector<std::string> each = meaningOf(columnStepsOf(opened.prepare), variable.name)[0].classes;
      if (each.empty()) each = classWords(opened.csv, variable.name);
      if (!each.empty()) words[variable.name] = each;
    }
  return words;
}

// By variable: samples a second of its sounds, where all have one.
Json ratesOf(const DatasetSpec* spec, const OpenedDataset& opened) {
  const std::vector<Variable>& variables = opened.data->schema().variables;
  if (!spec || std::none_of(variables.begin(), variables.end(),
                            [](const Variable& each) { return each.kind == VariableKind::wave; }))
    return {};
  try {
    return packedRates(opened.csv.extension() == ".pack" ? opened.csv
                                                         : cachePath(opened.csv, openingOf(*spec, opened.prepare)));
  } catch (const Error&) {
    return {};  // the CSV is being changed: its rates are not known
  }
}

}  // namespace

const OpenedDataset& ProjectData::open(const std::string& name, const std::string& trained) {
  if (const auto found = m_opened.find(name); found != m_opened.end()) return found->second;
  const DatasetSpec* spec = m_project.dataset(name);
  if (!spec) {
    std::vector<std::string> known;
    for (const DatasetSpec& one : m_project.datasets) known.push_back(one.name);
    const std::string near = nearest(name, known);
    throwError(ErrorCode::badProject, "there is no dataset '{}' in the project{}", name,
               near.empty() ? std::string() : fmt::format("; did you mean '{}'?", near));
  }
  try {
    if (spec->csv.empty()) throwError(ErrorCode::badProject, "no CSV is attached; set its field \"csv\"");
    OpenedDataset opened;
    opened.name = name;
    opened.csv = std::filesystem::weakly_canonical(m_options.folder / spec->csv);
    if (!originOf(*spec).empty()) needCsv(*spec, opened.csv);
    const std::vector<Json> steps = stepsOf(*spec, trained);
    needSamePercents(*spec, opened.csv, steps, trained);
    OpenOptions options;
    options.threads = m_options.threads;
    options.warn = [this, &name](const std::string& sentence) {
      if (m_options.warn) m_options.warn(name, sentence);
    };
    options.progress = [this, &name](const CacheProgress& progress) {
      if (m_options.progress) m_options.progress(name, progress);
      return !(m_options.stop && m_options.stop->load(std::memory_order_relaxed));
    };
    opened.data = openRows(*spec, opened.csv, steps, options);
    opened.prepare = opened.data->columnSteps();
    for (Json& step : measurePrepare(*opened.data, sampleStepsOf(steps))) opened.prepare.push_back(std::move(step));
    return m_opened.emplace(name, std::move(opened)).first->second;
  } catch (Error& error) {
    error.addContext("in dataset '" + name + "'");
    throw;
  }
}

// Two files of one project may write a column differently; its numbers would then mean something else in each.
void ProjectData::needSamePercents(const DatasetSpec& spec, const std::filesystem::path& csv,
                                   const std::vector<Json>& steps, const std::string& trained) const {
  const DatasetSpec* const other = trained.empty() ? nullptr : m_project.dataset(trained);
  if (!other || other == &spec || other->csv == spec.csv || other->csv.empty() || csv.extension() == ".pack") return;
  const std::filesystem::path learnt = m_options.folder / other->csv;
  std::error_code none;
  if (!std::filesystem::exists(learnt, none)) return;  // whoever opens it tells
  const CsvSource source{.format = recogniseCsv(csv, openingOf(spec, {}).format),
                         .steps = columnStepsOf(steps),
                         .needed = {},
                         .heldOut = {}};
  const std::string problem = otherPercents(csv, source, percentColumns(learnt, openingOf(*other, {}).format));
  if (!problem.empty()) throwError(ErrorCode::badData, "{}", problem);
}

std::vector<Json> ProjectData::stepsOf(const DatasetSpec& spec, const std::string& trained) {
  if (const auto known = m_options.prepared.find(spec.name); known != m_options.prepared.end()) return known->second;
  if (spec.ownPrepare || trained.empty() || trained == spec.name) return spec.prepare;
  const DatasetSpec* other = m_project.dataset(trained);
  const auto known = m_options.prepared.find(trained);
  std::vector<Json> steps = known != m_options.prepared.end() ? known->second : open(trained).prepare;
  return other && other->csv == spec.csv ? steps : stepsForAnotherFile(std::move(steps));
}

Json ProjectData::facts() const {
  Json facts = Json::object();
  for (const auto& [name, opened] : m_opened) {
    std::error_code none;
    const auto bytes = std::filesystem::file_size(opened.csv, none);
    const auto time = std::filesystem::last_write_time(opened.csv, none);
    const auto seconds =
        std::chrono::duration<double>(std::chrono::file_clock::to_sys(time).time_since_epoch()).count();
    facts[name] = {{"csv", opened.csv.string()}, {"rows", opened.data->size()},           {"bytes", bytes},
                   {"modified", seconds},        {"content", opened.data->contentHash()}, {"prepare", opened.prepare}};
    if (const DatasetSpec* const spec = m_project.dataset(name); spec && std::filesystem::exists(opened.csv, none))
      if (const auto percents = percentColumns(opened.csv, openingOf(*spec, {}).format); !percents.empty())
        facts[name]["percents"] = percents;
    if (Json words = wordsOfClasses(opened); !words.empty()) facts[name]["classes"] = std::move(words);
    if (Json rates = ratesOf(m_project.dataset(name), opened); !rates.empty()) facts[name]["rates"] = std::move(rates);
  }
  return facts;
}

}  // namespace loom
