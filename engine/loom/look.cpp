// look: what a trained run sees in one sample, as text, as JSON and as pictures.
#include <CLI/CLI.hpp>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/loom/desk.h"
#include "engine/loom/look_pictures.h"
#include "engine/run/exit_code.h"

namespace loom {
namespace {

constexpr std::size_t kSaidOnTerminal = 3;

struct LookArguments : RunArguments {
  std::int64_t sample = 1, window = 0, stride = 0;
  std::string output, of, saliency, layer, png, layerPng;
  bool alone = false;
};

std::string textOf(const LookAnswer& answer) {
  const SampleLook& look = answer.look;
  std::string text =
      fmt::format("{:<11} {} of {}\n{:<11} step {}\n{:<11} {}\n", "sample", look.sample + 1, look.samples, "checkpoint",
                  look.step, look.output.name, saidOf(look.output, look.said, kSaidOnTerminal));
  if (!look.map.values.empty()) {
    const auto [least, greatest] = std::minmax_element(look.map.values.begin(), look.map.values.end());
    const auto at = static_cast<std::int64_t>(greatest - look.map.values.begin());
    const std::string place = look.map.height > 1
                                  ? fmt::format("row {}, column {}", at / look.map.width + 1, at % look.map.width + 1)
                                  : fmt::format("place {}", at + 1);
    text += fmt::format("{:<11} of {}: {}×{} places from {:.3g} to {:.3g}, most at {}\n", look.method,
                        look.output.kind == OutputKind::numbers ? fmt::format("value {}", look.value + 1)
                                                                : className(look.output, look.classTold()),
                        look.map.height, look.map.width, *least, *greatest, place);
  }
  text += fmt::format("{:<11} {}, {}: from {:.3g} to {:.3g}, mean {:.3g}\n", "layer", look.layer,
                      answer.layer.shape.toString(), answer.layer.least, answer.layer.greatest, answer.layer.mean);
  std::string layers;
  for (const SampleLook::Layer& each : look.layers)
    layers += fmt::format("{}{} {}", layers.empty() ? "" : ", ", each.name, each.shape.toString());
  return text + fmt::format("{:<11} {}\n", "layers", layers);
}

int look(const LookArguments& given, Desk& desk) {
  LookRequest request{.sample = given.sample - 1,
                      .output = given.output,
                      .of = given.of,
                      .method = given.saliency.empty() ? LookMethod::none : lookMethod(given.saliency),
                      .layer = given.layer,
                      .window = given.window,
                      .stride = given.stride,
                      .layers = !given.alone};
  if (!given.data.empty()) request.file = std::filesystem::absolute(given.data);
  if (!given.png.empty() && given.saliency.empty())
    throwError(ErrorCode::badArgument, "--png is a picture of a map: name one by --saliency");
  TrainedNetwork& trained = desk.network(given, given.run);
  if (given.data.empty()) request.dataset = given.datasetOf(trained);
  const LookAnswer answer = trained.look(request);
  std::string files;
  if (!given.png.empty()) {
    writeMap(std::filesystem::absolute(given.png), answer.look);
    files += fmt::format("{:<11} {}\n", "map", given.png);
  }
  if (!given.layerPng.empty()) {
    writeTiles(std::filesystem::absolute(given.layerPng), answer.layer);
    files += fmt::format("{:<11} {}\n", "channels", given.layerPng);
  }
  if (given.json) {
    Json json = {{"look", toJson(answer.look)}};
    if (!given.alone) {
      const auto* const pixels = reinterpret_cast<const char*>(answer.layer.pixels.data());
      json["layer"] = toJson(answer.layer);
      json["pixels"] = toDigits({pixels, answer.layer.pixels.size()});
    }
    desk.say(json.dump() + '\n');
    return kExitDone;
  }
  desk.say(textOf(answer) + files);
  return kExitDone;
}

}  // namespace

void addLook(CLI::App& app, Session& session) {
  CLI::App* verb = app.add_subcommand(
      "look", "What a trained run sees in one sample: which places of it matter, and the values of every layer");
  auto given = std::make_shared<LookArguments>();
  given->declare(*verb);
  given->declareSamples(*verb, "A CSV, a picture, a sound or an array in place of the run's own samples");
  verb->add_option("--sample", given->sample, "Which one of these, from 1")->check(CLI::PositiveNumber);
  verb->add_option("--saliency", given->saliency, "How the places that matter are found: gradient, grad-cam, occlusion")
      ->check(CLI::IsMember({"gradient", "grad-cam", "occlusion"}));
  verb->add_option("--of", given->of, "For which class, or which value from 0; by default what is said most likely");
  verb->add_option("--output", given->output, "Of several outputs the one that is meant, as predict names it");
  verb->add_option("--layer", given->layer,
                   "Whose values are shown, and whose channels Grad-CAM weighs; by default the last one with places");
  verb->add_option("--window", given->window, "Of occlusion, in places")->check(CLI::NonNegativeNumber);
  verb->add_option("--stride", given->stride, "From window to window, in places")->check(CLI::NonNegativeNumber);
  verb->add_option("--png", given->png, "The sample with the places that matter over it")->type_name("FILE");
  verb->add_option("--layer-png", given->layerPng, "The layer's channels as pictures, on one scale")->type_name("FILE");
  verb->add_flag("--json", given->json, "One JSON object");
  verb->add_flag("--no-layer", given->alone, "With --json: without the values of a layer");
  verb->callback([&session, given] {
    session.chosen = [&session, given] {
      Desk desk(session);
      return look(*given, desk);
    };
  });
}

}  // namespace loom
