#include "engine/training/landscape.h"

#include <CLI/CLI.hpp>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/words.h"
#include "engine/loom/desk.h"
#include "engine/run/exit_code.h"
#include "engine/training/settings.h"

namespace loom {
namespace {

struct LandscapeArguments : RunArguments {
  std::string to, out;
  int directions = 1;
  std::int64_t points = 0, samples = 0;
  double range = 1;
  std::uint64_t seed = 1;
};

LandscapeOptions landscapeOptions(const LandscapeArguments& given, const std::atomic<bool>& stop) {
  LandscapeOptions options{.run = {std::filesystem::absolute(given.run)}, .to = {}};
  options.which = whichWeights(given.which);
  options.directions = given.to.empty() ? given.directions : 1;
  options.points = given.points > 0 ? given.points : options.directions == 2 ? 13 : 25;
  // Along a line a little beyond both ends, so that it shows whether these are minima along it.
  options.from = given.to.empty() ? -given.range : -0.5 * given.range;
  options.until = given.to.empty() ? given.range : 1 + 0.5 * given.range;
  options.seed = given.seed;
  options.samples = given.samples;
  options.stop = &stop;
  if (!given.to.empty()) options.to = RunFolder{std::filesystem::absolute(given.to)};
  return options;
}

std::string landscapeText(const Landscape& landscape) {
  const bool line = !landscape.to.empty(), plane = landscape.directions == 2;
  std::string text =
      line ? fmt::format("the line from {} (0, step {}) to {} (1, step {}); running statistics go with the weights\n",
                         landscape.run, landscape.step, landscape.to, landscape.toStep)
           : fmt::format("{} from {} (0, step {}); filters as long as the weights', running statistics as trained\n",
                         plane ? "two random directions" : "a random direction", landscape.run, landscape.step);
  text += fmt::format("{:>9}{}{:>14}{}\n", line ? "place" : "a", plane ? fmt::format("{:>9}", "b") : "",
                      "training loss", landscape.validation.empty() ? "" : fmt::format("{:>17}", "validation loss"));
  for (const LandscapePoint& point : landscape.all)
    text += fmt::format("{:>9.3f}{}{:>14.5g}{}\n", point.a, plane ? fmt::format("{:>9.3f}", point.b) : "",
                        point.training.loss, point.validation ? fmt::format("{:>17.5g}", point.validation->loss) : "");
  return text;
}

int landscape(const LandscapeArguments& given, const std::atomic<bool>& stop, Desk& desk) {
  const LandscapeOptions options = landscapeOptions(given, stop);
  const auto backend =
      makeBackend(given.device, readSettings(readRunDescription(options.run).project.training.settings).threads);
  const Landscape found =
      measureLandscape(*backend, options, [&](const LandscapePoint& point, std::int64_t done, std::int64_t all) {
        if (!given.json) return;
        Json line = toJson(point);
        line["done"] = done;
        line["all"] = all;
        desk.say(line.dump() + '\n');
      });
  if (!given.out.empty()) {
    const std::filesystem::path file = std::filesystem::absolute(given.out);
    writeFileAtomically(file, file.extension() == ".json" ? formatJson(toJson(found)) : toCsv(found));
  }
  desk.say(given.json ? toJson(found).dump() + '\n' : landscapeText(found));
  return kExitDone;
}

}  // namespace

void addLandscape(CLI::App& app, Session& session) {
  auto given = std::make_shared<LandscapeArguments>();
  CLI::App* verb = app.add_subcommand(
      "landscape",
      "The loss around a run's weights, or along the line to another run's: is its minimum sharp or flat?");
  given->declare(*verb);
  CLI::Option* to =
      verb->add_option("--to", given->to, "Along the line to the weights of this run, of the same drawing")
          ->type_name("RUN");
  verb->add_option("--directions", given->directions, "1 or 2 random ones, filters as long as the weights'")
      ->check(CLI::Range(1, 2))
      ->excludes(to);
  verb->add_option("--points", given->points, "Along each direction; by default 25, of two directions 13")
      ->check(CLI::Range(2, 1001));
  verb->add_option("--range", given->range,
                   "How far: from -R to R of the weights' own length; along a line R / 2 beyond both ends")
      ->check(CLI::PositiveNumber);
  verb->add_option("--seed", given->seed, "Of the random directions");
  verb->add_option("--samples", given->samples, "Of each dataset at most, evenly spread over it; 0 = all")
      ->check(CLI::NonNegativeNumber);
  verb->add_option("--out", given->out, "Writes all points here: .csv, or .json")->type_name("FILE");
  verb->add_flag("--json", given->json, "A JSON object a point as it goes, the whole answer last");
  verb->callback([&session, given] {
    session.chosen = [&session, given] {
      Desk desk(session);
      return landscape(*given, session.stop, desk);
    };
  });
}

}  // namespace loom
