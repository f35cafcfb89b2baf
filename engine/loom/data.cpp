// data import, data check, data stats: the functions of engine/data behind arguments.
#include <CLI/CLI.hpp>
#include <chrono>

#include "engine/base/error.h"
#include "engine/base/words.h"
#include "engine/data/check.h"
#include "engine/data/columns/findings.h"
#include "engine/data/columns/resolve.h"
#include "engine/data/import.h"
#include "engine/data/stats.h"
#include "engine/loom/verbs.h"
#include "engine/network/class_losses.h"
#include "engine/network/dataset_rows.h"
#include "engine/network/project_arguments.h"
#include "engine/run/console.h"
#include "engine/run/exit_code.h"

namespace loom {
namespace {

struct DataArguments {
  std::string csv, dataset, against, images, labels, folder, out;
  std::vector<std::string> batches, classes;
  bool json = false;
  std::int64_t rows = 0;
};

// Draws "done of total" a few times a second, and asks to stop when a signal came.
std::function<bool(std::int64_t, std::int64_t)> counting(Console& console, const std::atomic<bool>& stop,
                                                         std::string what) {
  return [&console, &stop, what = std::move(what), last = std::chrono::steady_clock::now()](
             std::int64_t done, std::int64_t total) mutable {
    const auto now = std::chrono::steady_clock::now();
    if (now - last > std::chrono::milliseconds(100)) {
      last = now;
      console.live(total > 0 ? fmt::format("{} {} of {} ({:.0f} %)", what, done, total,
                                           100.0 * static_cast<double>(done) / static_cast<double>(total))
                             : fmt::format("{} {}", what, done));
    }
    return !stop.load(std::memory_order_relaxed);
  };
}

std::function<bool(const CacheProgress&)> counting(const std::function<bool(std::int64_t, std::int64_t)>& count) {
  return [count](const CacheProgress& progress) { return count(progress.rowsDone, progress.rowsTotal); };
}

int tellImport(Console& console, const ImportResult& result) {
  console.line(fmt::format("{} in {}", counted(result.rows, "rows"), result.csv.string()));
  if (!result.classes.empty())
    console.line(fmt::format("{}: {} ... {}", counted(static_cast<std::int64_t>(result.classes.size()), "classes"),
                             result.classes.front(), result.classes.back()));
  if (const std::string left = leftOutText(result); !left.empty()) console.line(left);
  return kExitDone;
}

bool isProject(const std::string& path) {
  return std::filesystem::is_directory(path) || std::filesystem::path(path).extension() == ".loom";
}

// A dataset of a project: its CSV, and the steps that hold for it. Those of the dataset that is trained on are resolved
// on its own rows.
struct ProjectDataset {
  LoadedProject loaded;
  const DatasetSpec* spec = nullptr;
  std::filesystem::path csv;
  std::vector<Json> prepare;

  ProjectDataset(const DataArguments& given, const std::function<void(const std::string&)>& warn) {
    const std::filesystem::path file = projectFile(given.csv);
    loaded = loadForTraining(file, {});
    const std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
    const auto& updates = loaded.project.training.updates;
    const std::string trained = updates.empty() ? std::string() : updates.front().dataset;
    spec = loaded.project.dataset(given.dataset.empty() ? trained : given.dataset);
    if (!spec) throwError(ErrorCode::badArgument, "the project has no dataset '{}'", given.dataset);
    csv = folder / spec->csv;
    needCsv(*spec, csv);
    prepare = prepareOf(loaded.project, *spec);
    const DatasetSpec* first = loaded.project.dataset(trained);
    if (!first || first == spec || spec->ownPrepare || !needsResolving(columnStepsOf(prepare))) return;
    OpenOptions options;
    options.warn = warn;
    std::vector<Json> resolved =
        openDataset(folder / first->csv, openingOf(*first, first->prepare, options))->columnSteps();
    if (first->csv != spec->csv) resolved = stepsForAnotherFile(std::move(resolved));
    for (const Json& step : sampleStepsOf(prepare)) resolved.push_back(step);
    prepare = std::move(resolved);
  }
};

void tellTable(Console& console, const TableFacts& facts) {
  console.line(
      fmt::format("{}, {} columns; {}", counted(facts.rows, "rows"), facts.columns.size(), facts.format.text()));
  for (const ColumnFacts& column : facts.columns) {
    std::string line = fmt::format("{} ({}): {} of {}", column.name, toString(column.type), column.count, facts.rows);
    if (column.missing > 0) line += fmt::format(", {} empty", column.missing);
    if (column.unreadable > 0) line += fmt::format(", {} unreadable", column.unreadable);
    if (column.type == ColumnType::number)
      line += fmt::format(", from {:.6g} to {:.6g}, mean {:.6g}", column.low, column.high, column.mean);
    else
      line += fmt::format(", {}{} different", column.distinctMore ? "more than " : "",
                          column.distinctMore ? kMostDistinct : column.distinct);
    console.line(line);
  }
}

// The doctor's findings of a project's table, and whether the dataset can be made of it.
int checkProjectData(const DataArguments& given, const std::atomic<bool>& stop) {
  Console console;
  const auto warn = [&](const std::string& sentence) { console.line(fmt::format("{:<8} {}", "warning", sentence)); };
  const ProjectDataset data(given, warn);
  AnalyseOptions options{.format = openingOf(*data.spec, {}).format};
  options.progress = [&, count = counting(console, stop, "row")](const TableFacts& facts) mutable {
    return count(facts.rows, 0);
  };
  const TableFacts facts = analyseTable(data.csv, options);
  const Project& project = data.loaded.project;
  FindingsContext context{.prepare = data.prepare,
                          .targets = {},
                          .hasValidation = !project.training.validation.empty(),
                          .settings = project.training.settings,
                          .learnsClasses = project.networks.empty() || hasClassLoss(project)};
  if (const std::string target = Values(datasetEntry(), data.spec->extra).text("target"); !target.empty())
    context.targets.push_back(target);
  const std::vector<TableFinding> findings = tableFindings(facts, context);
  if (given.json) {
    Json json = facts.toJson();
    for (const TableFinding& finding : findings) {
      Json remedies = Json::array();
      for (const TableRemedy& remedy : finding.remedies)
        remedies.push_back({{"label", remedy.label}, {"steps", remedy.steps}, {"settings", remedy.settings}});
      json["findings"].push_back({{"kind", toString(finding.kind)},
                                  {"severity", toString(finding.severity)},
                                  {"columns", finding.columns},
                                  {"title", finding.title},
                                  {"detail", finding.detail},
                                  {"remedies", std::move(remedies)}});
    }
    fmt::print("{}\n", json.dump(2));
  } else {
    tellTable(console, facts);
    for (const TableFinding& finding : findings) {
      std::string line = fmt::format("{:<8} {}. {}", toString(finding.severity), finding.title, finding.detail);
      for (const TableRemedy& remedy : finding.remedies)
        if (!remedy.steps.empty())
          line += fmt::format("\n         {}: {}", remedy.label, Json(remedy.steps).dump());
        else if (remedy.settings.is_object())
          line += fmt::format("\n         {}: training {}", remedy.label, remedy.settings.dump());
      console.line(line);
    }
  }
  OpenOptions opening;
  opening.warn = warn;
  const auto rows = openRows(*data.spec, data.csv, data.prepare, opening);
  if (!given.json) console.line(fmt::format("{} are used", counted(rows->size(), "rows")));
  return kExitDone;
}

int check(const DataArguments& given, const std::atomic<bool>& stop) {
  if (isProject(given.csv)) return checkProjectData(given, stop);
  Console console;
  CheckOptions options{.other = given.against, .progress = counting(counting(console, stop, "row"))};
  for (const std::string& pair : given.classes) {
    const std::size_t equals = pair.find('=');
    std::int64_t count = 0;
    if (equals != std::string::npos) count = std::strtoll(pair.c_str() + equals + 1, nullptr, 10);
    if (count < 1) throwError(ErrorCode::badArgument, "--classes {}: VARIABLE=COUNT is wanted, such as y=10", pair);
    options.classes[pair.substr(0, equals)] = count;
  }
  const CheckReport report = checkDataset(given.csv, options);
  if (given.json) {
    fmt::print("{}\n", report.toJson().dump(2));
  } else {
    for (const Fault& fault : report.faults)
      console.line(fmt::format("{:<8} {}", toString(fault.severity), fault.message()));
    for (std::size_t kind = 0; kind < kFaultKinds; ++kind) {
      std::int64_t listed = 0;
      for (const Fault& fault : report.faults) listed += static_cast<std::size_t>(fault.kind) == kind;
      if (report.counts[kind] > listed)
        console.line(fmt::format("         ... and {} more: {}", report.counts[kind] - listed,
                                 toString(static_cast<FaultKind>(kind))));
    }
    console.line(fmt::format("{}: {}, {}", counted(report.rows, "rows"), counted(report.errors, "errors"),
                             counted(report.warnings, "warnings")));
  }
  return report.ok() ? kExitDone : exitCode(ErrorCode::badData);
}

int stats(const DataArguments& given, const std::atomic<bool>& stop) {
  Console console;
  OpenOptions opening;
  opening.progress = counting(counting(console, stop, "preparing row"));
  std::shared_ptr<const Dataset> dataset;
  if (isProject(given.csv)) {
    opening.warn = [&](const std::string& sentence) { console.line(fmt::format("{:<8} {}", "warning", sentence)); };
    const ProjectDataset data(given, opening.warn);
    dataset = openRows(*data.spec, data.csv, data.prepare, opening);
  } else {
    dataset = openDataset(given.csv, opening);
  }
  const auto measured = measure(*dataset, {.rows = given.rows, .progress = counting(console, stop, "measuring row")});
  if (given.json) {
    Json all = Json::array();
    for (const VariableStats& one : measured) all.push_back(toJson(one));
    fmt::print("{}\n", Json({{"rows", dataset->size()}, {"variables", all}}).dump(2));
    return kExitDone;
  }
  console.line(counted(dataset->size(), "rows"));
  for (const VariableStats& one : measured) {
    const Variable* variable = dataset->schema().find(one.variable);
    console.line(fmt::format("{} ({} {}): mean {:.6g}, deviation {:.6g}, from {:.6g} to {:.6g}", one.variable,
                             variable ? toString(variable->kind) : "", variable ? variable->shape.toString() : "",
                             one.all.mean, one.all.deviation, one.all.low, one.all.high));
    if (one.channels.size() > 1 && one.channels.size() <= 16)
      for (std::size_t i = 0; i < one.channels.size(); ++i)
        console.line(
            fmt::format("  [{}] mean {:.6g}, deviation {:.6g}", i, one.channels[i].mean, one.channels[i].deviation));
    if (!one.classes.empty() && one.classes.size() <= 100)
      for (std::size_t i = 0; i < one.classes.size(); ++i)
        console.line(fmt::format("  class {}: {}", i, counted(one.classes[i], "samples")));
  }
  return kExitDone;
}

// A folder becomes one dataset for each of its pairs: OUT/train/index.csv, OUT/t10k/index.csv.
int importIdxPaths(Console& console, const DataArguments& given, const std::atomic<bool>& stop) {
  const ImportOptions options{.progress = counting(console, stop, "image")};
  if (!std::filesystem::is_directory(given.images)) {
    if (given.labels.empty())
      throwError(ErrorCode::badArgument, "{} is a file of images: name the file of its labels after it", given.images);
    return tellImport(console, importIdx(given.images, given.labels, given.out, options));
  }
  const std::vector<IdxPair> pairs = findIdxPairs(given.images);
  if (pairs.empty() || !given.labels.empty())
    throwError(ErrorCode::badArgument,
               "{}: name a folder with pairs such as train-images-idx3-ubyte.gz and train-labels-idx1-ubyte.gz, "
               "or a file of images and a file of labels",
               given.images);
  for (const IdxPair& pair : pairs)
    tellImport(console, importIdx(pair.images, pair.labels, std::filesystem::path(given.out) / pair.name, options));
  return kExitDone;
}

void addDataImport(CLI::App& data, Session& session) {
  CLI::App* verb = data.add_subcommand("import", "From another format to a CSV with its files");
  verb->require_subcommand(1);
  auto given = std::make_shared<DataArguments>();
  const auto out = [given](CLI::App* format) { format->add_option("--out", given->out, "Folder to make")->required(); };
  CLI::App* idx = verb->add_subcommand("idx", "IDX files, as MNIST comes in, plain or .gz");
  idx->add_option("IMAGES", given->images,
                  "A file of images, or a folder with pairs such as train-images-idx3-ubyte.gz")
      ->required();
  idx->add_option("LABELS", given->labels, "The file of labels; not with a folder");
  out(idx);
  idx->callback([&session, given] {
    session.chosen = [&session, given] {
      Console console;
      return importIdxPaths(console, *given, session.stop);
    };
  });
  CLI::App* cifar = verb->add_subcommand("cifar", "CIFAR-10 or CIFAR-100 binary batches, in the order given");
  cifar->add_option("BATCH", given->batches)->required();
  out(cifar);
  cifar->callback([&session, given] {
    session.chosen = [&session, given] {
      Console console;
      const std::vector<std::filesystem::path> batches(given->batches.begin(), given->batches.end());
      return tellImport(console,
                        importCifar(batches, given->out, {.progress = counting(console, session.stop, "image")}));
    };
  });
  CLI::App* folder = verb->add_subcommand("folder", "A folder whose sub-folders are the classes");
  folder->add_option("FOLDER", given->folder)->required();
  out(folder);
  folder->callback([&session, given] {
    session.chosen = [&session, given] {
      Console console;
      return tellImport(console,
                        importFolder(given->folder, given->out, {.progress = counting(console, session.stop, "file")}));
    };
  });
}

}  // namespace

void addData(CLI::App& app, Session& session) {
  CLI::App* data = app.add_subcommand("data", "Datasets: import, check, stats");
  data->require_subcommand(1);
  addDataImport(*data, session);
  auto given = std::make_shared<DataArguments>();
  CLI::App* checking = data->add_subcommand("check", "Every fault of a CSV dataset, with line, column and remedy");
  checking->add_option("CSV", given->csv, "A CSV, or a project: its table with the steps of preparation")->required();
  checking->add_option("--dataset", given->dataset, "Of a project; the one that is trained on by default");
  checking->add_option("--against", given->against, "Another dataset that must not hold the same samples")
      ->type_name("CSV");
  checking->add_option("--classes", given->classes, "How many classes a label has: y=10")
      ->type_name("VARIABLE=COUNT")
      ->expected(1, -1);
  checking->add_flag("--json", given->json, "One JSON object");
  checking->callback([&session, given] { session.chosen = [&session, given] { return check(*given, session.stop); }; });
  CLI::App* measuring = data->add_subcommand("stats", "Mean, deviation, extremes and classes of each variable");
  measuring->add_option("CSV", given->csv, "A CSV, or a project: its samples after the steps on columns")->required();
  measuring->add_option("--dataset", given->dataset, "Of a project; the one that is trained on by default");
  measuring->add_option("--rows", given->rows, "Measure so many, spread evenly; 0 = all");
  measuring->add_flag("--json", given->json, "One JSON object");
  measuring->callback(
      [&session, given] { session.chosen = [&session, given] { return stats(*given, session.stop); }; });
}

}  // namespace loom
