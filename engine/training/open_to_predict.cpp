// Files that are to be predicted as a dataset, prepared as the run's samples were.
#include <algorithm>

#include "engine/base/error.h"
#include "engine/data/columns/column_plan.h"
#include "engine/data/columns/resolve.h"
#include "engine/data/csv_rows.h"
#include "engine/data/decode.h"
#include "engine/data/percent_columns.h"
#include "engine/data/raw_rows.h"
#include "engine/network/analysis.h"
#include "engine/network/dataset_rows.h"
#include "engine/training/feed.h"
#include "engine/training/files_to_predict.h"
#include "engine/training/holes_to_predict.h"
#include "engine/training/trained_network.h"

namespace loom {
namespace {

constexpr int kHeard = 16;  // sounds of a CSV whose rate is looked at, to tell of it

// All variables that the network and its losses read.
std::vector<std::string> allOf(const Network& network) {
  std::vector<std::string> all;
  for (const DatasetInput& input : datasetInputs(network)) all.push_back(input.variable);
  return all;
}

CsvSource sourceOf(const std::filesystem::path& csv, const OpenOptions& options) {
  return {.format = recogniseCsv(csv, options.format),
          .steps = columnStepsOf(options.prepare),
          .needed = options.needed,
          .everyRow = options.everyRow,
          .heldOut = {}};
}

// Whether the steps can make `options.needed` of the columns that the CSV has.
bool hasNeeded(const std::filesystem::path& csv, const OpenOptions& options) {
  const CsvSource source = sourceOf(csv, options);
  CsvBlockReader reader(csv, 1 << 16, source.format);
  CsvBlock block;
  if (!reader.next(block, 1)) return false;
  std::size_t offset = 0;
  std::int64_t lines = 0;
  try {
    planOf(source, headerOf(block, source.format, offset, lines, [](const Fault&) {}), csv);
  } catch (const Error&) {
    return false;
  }
  return true;
}

// What is done to the sounds of a CSV, where one of its first has another rate.
std::string rateNote(const std::filesystem::path& csv, const CsvFormatChoice& format, const SampleTaken& taken) {
  std::string note;
  std::size_t column = 0;
  bool found = false;
  for (const std::string& cell : readRecords(
           csv, [](std::int64_t, const auto&) { return false; }, format)) {
    found = cell.substr(0, cell.find(':')) == taken.variable;
    if (found) break;
    ++column;
  }
  if (!found) return note;
  Sample sample;
  std::vector<std::byte> scratch;
  int heard = 0;
  readRecords(
      csv,
      [&](std::int64_t, const std::vector<std::string>& cells) {
        if (column >= cells.size() || ++heard > kHeard) return false;
        try {
          decodeFile(csv.parent_path() / cells[column], sample, scratch);
        } catch (const Error&) {
          return false;  // whoever opens it is told
        }
        if (sample.kind == VariableKind::wave && sample.rate > 0 && sample.rate != taken.rate)
          note = fmt::format(
              "{}: sounds are brought to {} samples a second, the rate that the run was trained at; {} has {}",
              csv.filename().string(), taken.rate, cells[column], sample.rate);
        return note.empty();
      },
      format);
  return note;
}

std::vector<std::string> percentsOf(const Json& facts) {
  return facts.is_object() ? facts.value("percents", std::vector<std::string>()) : std::vector<std::string>();
}

// What the inputs of a network take, and what the run says of them.
std::vector<SampleTaken> takenOf(const Network& network, const std::vector<std::string>& inputs,
                                 const std::vector<Json>& prepare, const Json& facts) {
  const Json rates = facts.is_object() ? facts.value("rates", Json::object()) : Json::object();
  std::vector<SampleTaken> taken;
  for (const DatasetInput& input : datasetInputs(network))
    if (std::find(inputs.begin(), inputs.end(), input.node) != inputs.end())
      taken.push_back({input.variable, input.shape, prepare, rates.value(input.variable, 0)});
  return taken;
}

}  // namespace

OpenedDataset TrainedNetwork::openToPredict(FilesToPredict& files, const Network& network,
                                            const std::vector<std::string>& inputs, FileUse use) const {
  std::vector<Json> prepare;
  if (const auto prepared = m_description.prepared.find(trainedOn()); prepared != m_description.prepared.end())
    prepare = stepsForAnotherFile(prepared->second);
  const auto facts = m_description.facts.find(trainedOn());
  const std::vector<SampleTaken> taken =
      takenOf(network, inputs, prepare, facts == m_description.facts.end() ? Json() : *facts);
  std::vector<std::string> read;  // by the network itself
  for (const std::string& input : inputs) read.push_back(Feed::variableOf(network, input));
  OpenOptions open = files.openOptions();
  const DatasetSpec* const own = m_project.dataset(trainedOn());
  if (own && !files.areSamples() && !files.recognised) {
    open.format = openingOf(*own, {}).format;
    OpenOptions named = open;
    named.format.header = true;
    named.prepare = prepare;
    named.needed = read;
    open.format.header = open.format.header || hasNeeded(files.csv(), named);
  }
  if (files.areSamples()) {
    files.fit(taken.front());
  } else {
    for (const SampleTaken& each : taken)
      if (const auto step = rateStep(each)) {
        files.steps.push_back(*step);
        if (const std::string note = rateNote(files.csv(), open.format, each); !note.empty())
          files.notes.push_back(note);
      }
  }
  OpenedDataset opened{.name = files.name(), .csv = files.csv(), .data = {}, .prepare = {}, .format = open.format};
  open.threads = m_settings.threads;
  open.progress = [this](const CacheProgress& progress) {
    if (m_options.progress) m_options.progress("to predict", progress);
    return !(m_options.stop && m_options.stop->load(std::memory_order_relaxed));
  };
  const std::vector<std::string> percents = percentsOf(facts == m_description.facts.end() ? Json() : *facts);
  const auto openNow = [&] {
    open.prepare = opened.prepare = withSampleSteps(prepare, files.steps);
    if (!files.areSamples() && opened.csv.extension() != ".pack")
      if (const std::string problem = otherPercents(opened.csv, sourceOf(opened.csv, open), percents); !problem.empty())
        throwError(ErrorCode::badData, "{}", problem);
    opened.data = openDataset(opened.csv, open);
  };
  // Pictures of other channels than the network takes are brought to those.
  const auto readAsTaken = [&] {
    openNow();
    bool again = false;
    for (const SampleTaken& each : taken) {
      const Variable* const stored = opened.data->schema().find(each.variable);
      if (files.areSamples() || !stored || stored->kind != VariableKind::image) continue;
      const auto step = colourStep(*stored, each);
      if (!step) continue;
      files.steps.push_back(*step);
      files.notes.push_back(fmt::format("{}: pictures of {} channels are brought to {}, which the network takes",
                                        files.name(), stored->shape[0], (*step)["to"] == "grey" ? "grey" : "RGB"));
      again = true;
    }
    if (again) openNow();
  };
  // Where all is there that losses compare, it is read too.
  open.prepare = withSampleSteps(prepare, files.steps);
  open.needed = allOf(network);
  const auto steps = files.steps;
  const auto notes = files.notes;
  if (hasNeeded(opened.csv, open)) {
    // What is judged are rows as training would take them; what is predicted is every row.
    open.everyRow = use == FileUse::predict;
    try {
      readAsTaken();
      return opened;
    } catch (const Error& error) {
      if (use == FileUse::evaluate || error.code() != ErrorCode::badData) throw;  // else the target may have holes
    }
  }
  files.steps = steps;
  files.notes = notes;
  open.needed = read;
  open.everyRow = true;
  try {
    readAsTaken();
  } catch (const Error& error) {
    const std::string holes = error.code() == ErrorCode::badData ? holesText(opened.csv, open) : std::string();
    if (!holes.empty()) throwError(ErrorCode::badData, "{}: {}", files.name(), holes);
    throw;
  }
  return opened;
}

}  // namespace loom
