#include "engine/exchange/sdcproj/sdc_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "engine/base/error.h"
#include "engine/base/words.h"
#include "engine/catalogue/text.h"
#include "engine/data/csv_header.h"
#include "engine/data/sample_files.h"
#include "engine/exchange/sdcproj/sdc_ports.h"
#include "engine/exchange/sdcproj/sdc_solver.h"
#include "engine/optimizers/optimizer.h"

namespace loom::sdc {
namespace {

using Kind = ReportItem::Kind;

class TrainingReader {
 public:
  TrainingReader(const TrainingParts& parts, Project& project)
      : m_parts(parts), m_file(parts.file), m_project(project) {}

  void run() {
    for (const Section& section : m_file.datasets) dataset(section);
    for (const Section& section : m_file.optimizers) optimizer(section);
    if (m_project.training.updates.empty()) {
      UpdateSpec update = defaultUpdate();
      if (!m_project.networks.empty()) update.network = m_project.networks[0].name;
      if (!m_project.datasets.empty()) update.dataset = m_project.datasets[0].name;
      m_project.training.updates.push_back(std::move(update));
      tell(Kind::converted, "[Optimizer]",
           "the file has no optimizer: Adam trains the first network on the first dataset");
    }
    settings();
    validation();
    others();
  }

 private:
  void tell(Kind kind, std::string place, std::string sentence) {
    m_parts.report.add(kind, "", std::move(place), "", std::move(sentence));
  }

  void dataset(const Section& section) {
    DatasetSpec& spec = m_project.datasets.emplace_back();
    const std::string given = section.text("Name", "Dataset");
    spec.name = validName(given, "dataset", m_names);
    m_datasets.emplace(given, spec.name);
    const std::string place = fmt::format("dataset {}", clipped(given));
    spec.csv = path(section.text("URI"));
    std::error_code none;
    const bool exists = !spec.csv.empty() && std::filesystem::is_regular_file(spec.csv, none);
    if (spec.csv.empty())
      tell(Kind::untranslatable, place, "it names no file on this machine: choose its CSV on the Data page");
    else if (!exists)
      tell(Kind::untranslatable, place,
           fmt::format("there is no {}: choose its CSV on the Data page", clipped(spec.csv, 200)));
    else
      tell(Kind::translated, place, fmt::format("the CSV {}", clipped(spec.csv, 200)));
    spec.ownPrepare = true;
    if (section.integer("ImageNormalization", 0) != 1) return;
    for (const std::string& variable : exists ? imagesOf(spec.csv) : m_parts.images)
      spec.prepare.push_back({{"step", "Scale"}, {"by", 1.0 / 255}, {"variable", variable}});
    if (!spec.prepare.empty())
      tell(Kind::converted, place, "ImageNormalization is a step Scale by 1/255 for its images");
  }

  // Of a path of Windows, with the folder of Console before it, to one that this machine may know; empty for what lies
  // in a cloud.
  std::string path(std::string uri) const {
    std::replace(uri.begin(), uri.end(), '\\', '/');
    if (uri.empty() || uri.find("{SDCPATH}") != uri.npos || uri.find("://") != uri.npos) return {};
    std::filesystem::path path = uri;
    if (path.is_relative()) path = m_parts.folder / path;
    return path.lexically_normal().string();
  }

  // Variables without an index whose first cell is no number: files, of which those that Inputs read as images are
  // scaled.
  std::vector<std::string> imagesOf(const std::string& csv) const {
    std::vector<std::string> found;
    try {
      const std::string head = beginOf(csv);
      std::size_t consumed = 0;
      std::int64_t lines = 0;
      const FaultSink ignore = [](const Fault&) {};
      const CsvHeader header = parseHeader(takeHeader(head, consumed, lines, ignore), ignore);
      const std::vector<std::string> cells =
          splitList(std::string_view(head).substr(consumed, head.find_first_of("\r\n", consumed) - consumed));
      for (const CsvVariable& variable : header.variables) {
        if (variable.indexed || variable.columns.empty() || variable.columns[0] >= cells.size()) continue;
        const SampleEnding* const ending = sampleEndingOf(cells[variable.columns[0]]);
        if (ending && ending->kind == SampleFileKind::picture) found.push_back(variable.name);
      }
    } catch (const Error&) {
      return m_parts.images;  // what is wrong with it is told when it is opened
    }
    return found;
  }

  static std::string beginOf(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    std::string text(1 << 16, '\0');
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(stream.gcount()));
    return text;
  }

  // `MainValidation` and `MainRuntime` are Main without what only training does, which is not drawn here.
  std::string networkOf(std::string name, const std::string& place) {
    if (const auto found = m_parts.networks.find(name); found != m_parts.networks.end()) return found->second;
    for (const char* ending : {"Validation", "Runtime"})
      if (name.ends_with(ending))
        if (const auto found = m_parts.networks.find(name.substr(0, name.size() - std::string_view(ending).size()));
            found != m_parts.networks.end())
          return found->second;
    tell(Kind::untranslatable, place, fmt::format("it names the network '{}', which is not there", clipped(name)));
    return {};
  }

  void optimizer(const Section& section) {
    const std::string place = fmt::format("optimizer {}", clipped(section.text("Optimizer_Name", "Optimizer")));
    UpdateSpec update = defaultUpdate();
    update.network = networkOf(section.text("Optimizer_NetworkName", "Main"), place);
    if (update.network.empty()) return;
    if (const auto found = m_datasets.find(section.text("Optimizer_DatasetName", "Training"));
        found != m_datasets.end())
      update.dataset = found->second;
    else
      tell(
          Kind::untranslatable, place,
          fmt::format("it names the dataset '{}', which is not there", clipped(section.text("Optimizer_DatasetName"))));
    const std::int64_t batch = std::max<std::int64_t>(m_file.config.integer("BatchSize", 64), 1);
    readSolver(section, {.samples = samplesOf(section), .batch = batch, .place = place, .report = m_parts.report},
               update);
    m_project.training.updates.push_back(std::move(update));
  }

  std::int64_t samplesOf(const Section& optimizer) const {
    for (const Section& dataset : m_file.datasets)
      if (dataset.text("Name") == optimizer.text("Optimizer_DatasetName", "Training"))
        return dataset.integer("NumData", 0);
    return 0;
  }

  void settings() {
    TrainingSpec& training = m_project.training;
    const double epochs = std::clamp(m_file.config.number("MaxEpoch", 100), 0.0, 30000.0);
    const std::int64_t batch = std::clamp<std::int64_t>(m_file.config.integer("BatchSize", 64), 1, 1000000);
    std::int64_t interval = 1;
    for (const Section& section : m_file.optimizers)
      interval = std::max(interval, section.integer("UpdateInterval", 1));
    interval = std::clamp<std::int64_t>(interval, 1, 1000);
    set("epochs", epochs);
    set("batch", batch * interval);
    set("accumulate", interval);
    if (interval > 1)
      tell(Kind::converted, "[Config]",
           fmt::format("{} batches of {} make a step: batch {} in {} passes", interval, batch, batch * interval,
                       interval));
    if (const std::string type = m_file.config.text("TypeConfig", "Float"); type == "Half") {
      set("precision", "bf16");
      tell(Kind::converted, "[Config]", "Half is bf16 here, which needs no scaling of the loss");
    }
    for (const Section& dataset : m_file.datasets)
      if (!training.updates.empty() && m_datasets[dataset.text("Name", "Dataset")] == training.updates[0].dataset &&
          dataset.integer("Shuffle", 1) == 0)
        set("shuffle", false);
  }

  void set(const char* key, Json value) {
    const Field* field = settingsEntry().field(key);
    if (field && field->type == FieldType::real && value.is_number()) value = value.get<double>();
    if (field && value != field->defaultValue) m_project.training.settings[key] = std::move(value);
  }

  // The monitor of another dataset than that which is trained on.
  void validation() {
    TrainingSpec& training = m_project.training;
    for (const Section& monitor : m_file.monitors) {
      const std::string place = fmt::format("monitor {}", clipped(monitor.text("Monitor_Name", "monitor")));
      const std::string network = networkOf(monitor.text("Monitor_NetworkName", "MainValidation"), place);
      const auto dataset = m_datasets.find(monitor.text("Monitor_DatasetName"));
      const bool other = dataset != m_datasets.end() && dataset->second != training.updates[0].dataset;
      if (network.empty()) continue;
      if (!other) {
        tell(Kind::ignored, place, "the training set is measured while it is trained on");
      } else if (training.validation.empty()) {
        training.validation = dataset->second;
        if (network != training.updates[0].network) training.validationNetwork = network;
        tell(Kind::translated, place, fmt::format("the validation of {} on {}", network, dataset->second));
      } else {
        tell(Kind::ignored, place, "one validation is measured while training; others by loom evaluate");
      }
    }
  }

  void others() {
    for (const Section& executor : m_file.executors)
      tell(Kind::ignored, fmt::format("executor {}", clipped(executor.text("Executor_Name", "Executor"))),
           "a trained run is evaluated and predicts by itself here");
    if (m_file.script.integer("Enabled", 0) == 1)
      tell(Kind::untranslatable, "[Script]", "scripts of Console are not run here");
    if (m_file.outOfCore.integer("Enabled", 0) == 1)
      tell(Kind::ignored, "[OutOfCoreTraining]", "the setting Memory budget does with less memory here");
    if (m_file.structureSearch.integer("Enabled", 0) == 1)
      tell(Kind::untranslatable, "[StructureSearch]",
           "there is no search for structures here: the network is trained as it is drawn");
    if (const std::string engine = m_file.engine.text("SDeepEngineType", "NNabla"); engine != "NNabla")
      tell(Kind::untranslatable, "[Engine]",
           fmt::format("a project for the engine {}: only its drawing and its settings are read", clipped(engine)));
    if (m_file.config.find("MonitorInterval"))
      tell(Kind::ignored, "[Config]", "MonitorInterval: validation is measured after each epoch here");
    for (const std::string& fault : m_file.faults) tell(Kind::untranslatable, "the file", fault);
  }

  const TrainingParts& m_parts;
  const File& m_file;
  Project& m_project;
  std::set<std::string> m_names;
  std::map<std::string, std::string> m_datasets;
};

}  // namespace

void readTraining(const TrainingParts& parts, Project& project) {
  TrainingReader(parts, project).run();
}

}  // namespace loom::sdc
