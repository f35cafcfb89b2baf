// import, export: networks from and for other tools.
#include <CLI/CLI.hpp>

#include "engine/base/error.h"
#include "engine/base/words.h"
#include "engine/exchange/exporter.h"
#include "engine/exchange/importer.h"
#include "engine/exchange/laid_over.h"
#include "engine/exchange/tensorboard/run_scalars.h"
#include "engine/loom/verbs.h"
#include "engine/network/flatten.h"
#include "engine/network/project_arguments.h"
#include "engine/run/exit_code.h"
#include "engine/training/export_run.h"
#include "engine/training/settings.h"
#include "engine/training/start_from.h"
#include "engine/training/trained_run.h"

namespace loom {
namespace {

struct ImportArguments {
  std::string file, out, over, network;
  bool json = false;
};

// What a file of weights would give a network: nothing is written, `start_from` names the file.
int compare(const ImportArguments& given) {
  const LaidOverWeights over = layOver(given.file, loadProject(projectFile(given.over)), given.network);
  if (given.json)
    fmt::print("{}\n", toJson(over.match, over.parameters, over.tensors).dump(2));
  else
    fmt::print("{}to begin with them: loom train {} --set start_from={}\n",
               matchText(over.match, over.parameters, over.tensors), given.over,
               std::filesystem::absolute(given.file).string());
  return kExitDone;
}

int import(const ImportArguments& given, const std::atomic<bool>& stop) {
  if (!given.over.empty()) return compare(given);
  const Imported imported = importFile({.file = given.file, .stop = &stop, .progress = {}});
  std::filesystem::path out;
  if (!given.out.empty()) {
    out = std::filesystem::absolute(given.out);
    if (out.extension() != ".loom") out += ".loom";
    writeImported(imported, out);
  }
  if (given.json) {
    Json json = toJson(imported.report);
    if (!out.empty()) json["project"] = out.string();
    fmt::print("{}\n", json.dump(2));
    return kExitDone;
  }
  fmt::print("{}", reportText(imported.report));
  if (out.empty())
    fmt::print("nothing was written: name a project with --out\n");
  else
    fmt::print(
        "written to {}{}\n", out.string(),
        imported.weightsFile.empty() ? "" : ", weights to " + (out.parent_path() / imported.weightsFile).string());
  return kExitDone;
}

struct ExportArguments {
  std::string source, network, which = "best", onnx, batch = "free", safetensors, pytorch, tensorboard;
  bool bare = false;
};

// A run with the weights of its checkpoint, or a project with those that its training would begin with.
ExportSource sourceOf(const ExportArguments& given) {
  const RunFolder run{std::filesystem::absolute(given.source)};
  if (std::filesystem::exists(run.runFile()))
    return exportSourceOf(TrainedRun(run, whichWeights(given.which)), given.network);
  ExportSource source;
  const std::filesystem::path file = projectFile(given.source);
  source.project = loadProject(file);
  source.network = given.network.empty() ? trainedNetworkOf(source.project) : given.network;
  const TrainSettings settings = readSettings(source.project.training.settings);
  ParameterStore store(settings.seed);
  store.ensure(lower(flatNetwork(source.project, source.network), {}).parameters);
  if (!settings.startFrom.empty())
    startFrom(store, {.file = std::filesystem::absolute(file).parent_path() / settings.startFrom,
                      .parameters = settings.startFromParameters});
  for (const auto& entry : store.entries())
    source.weights[entry->parameter.name] = {entry->parameter.shape, entry->value.values()};
  return source;
}

// "free", or how many samples.
std::int64_t batchOf(const std::string& word) {
  if (word == "free") return 0;
  if (word.empty() || word.size() > 7 || word.find_first_not_of("0123456789") != word.npos || std::stoll(word) == 0)
    throwError(ErrorCode::badArgument, "--batch {}: a number of samples is wanted, or free", word);
  return std::stoll(word);
}

int exportTo(const ExportArguments& given, const std::atomic<bool>& stop) {
  const bool network = !given.onnx.empty() || !given.safetensors.empty() || !given.pytorch.empty();
  if (!network && given.tensorboard.empty())
    throwError(ErrorCode::badArgument,
               "name what to export to: --onnx FILE, --safetensors FILE, --pytorch FILE.py or --tensorboard FOLDER; "
               "drawings are exported by the IDE and by `gradloom export`");
  if (!given.tensorboard.empty()) {
    const TensorBoardWritten written = exportTensorBoard({.run = {std::filesystem::absolute(given.source)},
                                                          .folder = std::filesystem::absolute(given.tensorboard),
                                                          .name = {},
                                                          .stop = &stop});
    fmt::print("written to {}: {}\n", written.file.string(), counted(written.points, "points"));
  }
  if (!network) return kExitDone;
  const ExportSource source = sourceOf(given);
  const auto write = [&](const std::string& file, auto writer) {
    if (file.empty()) return;
    for (const std::filesystem::path& each : writer(source, std::filesystem::absolute(file)))
      fmt::print("written to {}\n", each.string());
  };
  write(given.safetensors, exportSafetensors);
  write(given.pytorch, exportPyTorch);
  write(given.onnx, [&](const ExportSource& from, const std::filesystem::path& file) {
    return exportOnnx(from, file, batchOf(given.batch), given.bare ? Carried::nothing : Carried::project);
  });
  for (const std::string& note : exportNotes(source, !given.onnx.empty())) fmt::print("{}\n", note);
  if (!given.onnx.empty() && !given.bare && !source.preparation.is_null())
    fmt::print(
        "the file carries the preparation with its figures (gradloom.preparation) and the project, with the paths of "
        "its "
        "data; --bare leaves both out\n");
  return kExitDone;
}

}  // namespace

void addImport(CLI::App& app, Session& session) {
  auto given = std::make_shared<ImportArguments>();
  CLI::App* verb =
      app.add_subcommand("import", "A project of another tool as a .loom, with a report of what became of each layer");
  verb->add_option("FILE", given->file, "What to import; or a .safetensors with --over")->required();
  verb->add_option("--out", given->out, "The .loom to write, and weights beside it; never over a file that exists")
      ->type_name("PROJECT.loom");
  verb->add_option("--over", given->over, "Says which weights of FILE would go where in this project")
      ->type_name("PROJECT");
  verb->add_option("--network", given->network, "With --over: of the project; by default the one that is trained");
  verb->add_flag("--json", given->json, "The report as one JSON object");
  verb->callback([&session, given] { session.chosen = [&session, given] { return import(*given, session.stop); }; });
}

void addExport(CLI::App& app, Session& session) {
  auto given = std::make_shared<ExportArguments>();
  CLI::App* verb = app.add_subcommand("export", "A trained run, or a project as it would begin, for other tools");
  verb->add_option("SOURCE", given->source, "The folder of a run, or a .loom")->required();
  verb->add_option("--network", given->network, "Of the project; by default the one that is trained");
  verb->add_option("--checkpoint", given->which, "Of a run: best (where there is one) or last")
      ->check(CLI::IsMember({"best", "last"}));
  verb->add_option("--safetensors", given->safetensors, "Weights under our names")->type_name("FILE");
  verb->add_option("--pytorch", given->pytorch, "A script with the same network, and its weights beside it")
      ->type_name("FILE.py");
  verb->add_option("--onnx", given->onnx, "Network and weights")->type_name("FILE");
  verb->add_option("--batch", given->batch, "Of the ONNX file: how many samples it takes at once; free leaves it open")
      ->type_name("N|free");
  verb->add_option("--tensorboard", given->tensorboard,
                   "Of a run: its curves as TensorBoard's event files, in a folder of their own in this one")
      ->type_name("FOLDER");
  verb->add_flag("--bare", given->bare,
                 "Leave out of the ONNX file the project that it carries otherwise (units, repeats, places, notes, the "
                 "names of its data)");
  verb->callback([&session, given] { session.chosen = [&session, given] { return exportTo(*given, session.stop); }; });
}

}  // namespace loom
