// The table of presets: each figure with the publication it stands in; what that leaves open is said to be ours.
#include <fmt/format.h>

#include <cmath>

#include "engine/network/presets.h"

namespace loom {
namespace {

const std::string kGoyal = "Goyal et al. 2017, arXiv 1706.02677", kAkiba = "Akiba et al. 2017, arXiv 1711.04325",
                  kJizhi = "Jia et al. 2018 (Jizhi), arXiv 1807.11205", kSony = "Sony 2018, ImageNet in 224 seconds",
                  kStill = "Sony 2019, slides on STiLL", kMlperf = "MLPerf training v4.0, result logs of NVIDIA",
                  kAirbench = "Jordan 2024, airbench94, arXiv 2404.00498", kOurs = "ours: not published";

const std::string kZeroGamma =
    "γ of the last normalisation of each branch starts at 0: the field Zero γ of those nodes, in the drawing";
const std::string kCorrection =
    "the buffer rescaled when the rate changes (momentum correction): LARS keeps the rate inside of the buffer";
const std::string kSixteenBitLayers = "16 bits in layers (precision f16), which are for GPUs: the precision stays";
const std::string kSixteenBits =
    "gradients in 16 bits on the wire: rings, groups and tori of this engine add in 32 bits";

// What most recipes leave out of decay and of the trust ratio.
const Json kWithout = Json::array({"bias", "normalisation"});

// A row without its values.
Preset recipe(std::string id, std::string label, std::string result, std::string source, std::int64_t batch,
              std::int64_t ranks, std::vector<std::string> missing) {
  return {.id = std::move(id),
          .label = std::move(label),
          .result = std::move(result),
          .source = std::move(source),
          .batch = batch,
          .ranks = ranks,
          .values = {},
          .missing = std::move(missing)};
}

void add(std::vector<PresetValue>& to, const std::string& source, std::vector<std::pair<std::string, Json>> values) {
  for (auto& [path, value] : values) to.push_back({path, std::move(value), source});
}

// Recipes name the rate at the end of the warm-up, from where the polynomial begins. Here it counts from the first
// step, so the field is higher by what it has fallen until then; behind the warm-up both are the same curve for a power
// of 2.
double rateBefore(double peak, double warmup, double epochs) {
  const double left = 1 - warmup / epochs;
  return std::round(1e4 * peak / (left * left)) / 1e4;
}

Preset goyal() {
  Preset preset = recipe("goyal-8k", "Goyal 8K", "ResNet-50 on ImageNet: 76.3 % in 1 hour on 256 P100", kGoyal, 8192,
                         256, {kZeroGamma});
  add(preset.values, kGoyal,
      {{"epochs", 90},
       {"optimizer.name", "Nesterov"},
       {"optimizer.learning_rate", 0.1},
       {"optimizer.momentum", 0.9},
       {"optimizer.weight_decay", 1e-4},
       {"rate_scaling", "linear"},
       {"base_batch", 256},
       {"schedule.name", "Step"},
       {"schedule.factor", 0.1},
       {"schedule.at", Json::array({30, 60, 80})},
       {"warmup.epochs", 5},
       {"warmup.from_unscaled", true},
       {"decay_exclude", kWithout},
       {"batch_statistics", "per_shard"}});
  return preset;
}

Preset akiba() {
  Preset preset = recipe("akiba-32k", "Akiba 32K", "ResNet-50 on ImageNet: 74.9 % in 15 minutes on 1,024 P100", kAkiba,
                         32768, 1024, {kSixteenBitLayers});
  add(preset.values, kAkiba,
      {{"epochs", 90},
       {"optimizer.name", "RMSpropWarmup"},
       {"optimizer.learning_rate", 0.1},
       {"optimizer.momentum", 0.9},
       {"optimizer.decay", 0.99},
       {"optimizer.epsilon", 1e-8},
       {"optimizer.rmsprop_rate", 3e-4},
       {"optimizer.center", 10},
       {"optimizer.period", 5},
       {"rate_scaling", "linear"},
       {"base_batch", 256},
       {"schedule.name", "SlowStart"},
       {"schedule.factors", Json::array({0.5, 0.075, 0.01, 0.001})},
       {"schedule.at", Json::array({40, 70, 85})},
       {"warmup.epochs", nullptr},
       {"batch_statistics", "last_batch"},
       {"wire", "f16"}});
  add(preset.values, kOurs + "; as He et al. 2016", {{"optimizer.weight_decay", 1e-4}});
  return preset;
}

Preset jizhi(const std::string& id, const std::string& label, const std::string& result, std::int64_t ranks) {
  Preset preset = recipe(id, label, result, kJizhi, 65536, ranks, {kSixteenBits, kSixteenBitLayers});
  add(preset.values, kJizhi,
      {{"optimizer.name", "LARS"},
       {"optimizer.variant", "jizhi"},
       {"optimizer.momentum", 0.9},
       {"optimizer.unscaled", kWithout},
       {"decay_exclude", kWithout},
       {"schedule.name", "Polynomial"},
       {"schedule.power", 2},
       {"rate_scaling", "none"},
       {"reduction", "hybrid"}});
  add(preset.values, kOurs + "; find yours by the range test", {{"optimizer.learning_rate", 0.02}});
  add(preset.values, kOurs + "; as Goyal et al. 2017", {{"warmup.epochs", 5}, {"optimizer.weight_decay", 1e-4}});
  return preset;
}

Preset jizhiResNet() {
  Preset preset = jizhi("jizhi-64k", "Jizhi 64K", "ResNet-50 on ImageNet: 76.2 % in 8.7 minutes on 1,024 P40", 1024);
  add(preset.values, kOurs + "; as Goyal et al. 2017", {{"epochs", 90}});
  return preset;
}

Preset jizhiAlexNet() {
  Preset preset =
      jizhi("jizhi-64k-alexnet", "Jizhi 64K, AlexNet", "AlexNet on ImageNet: 58.7 % in 4 minutes on 1,024 P40", 1024);
  preset.missing.push_back("normalisation behind pool5: that network is the sample alexnet_pool5");
  add(preset.values, kOurs + "; as You et al. 2017", {{"epochs", 100}});
  return preset;
}

Preset sony() {
  Preset preset =
      recipe("sony-224s", "Sony 34K to 68K, 224 s", "ResNet-50 on ImageNet: 75.03 % in 224 seconds on 2,176 V100",
             kSony, 34816, 2176, {kSixteenBits});
  add(preset.values, kSony,
      {{"epochs", 90},
       {"optimizer.name", "LARS"},
       {"optimizer.variant", "nnc"},
       {"optimizer.momentum", 0.9},
       {"optimizer.coefficient", 0.001},
       {"batch_then", Json::array({69632})},
       {"reduction", "torus"},
       {"rate_scaling", "none"}});
  add(preset.values, kOurs + "; a published trial changes the batch first at epoch 30",
      {{"batch_at", Json::array({30})}});
  add(preset.values, kOurs + "; find yours by the range test", {{"optimizer.learning_rate", 10}});
  add(preset.values, kOurs + "; as other LARS recipes",
      {{"schedule.name", "Polynomial"}, {"schedule.power", 2}, {"warmup.epochs", 5}, {"optimizer.weight_decay", 5e-5}});
  return preset;
}

Preset still(const std::string& id, const std::string& label, const std::string& result, std::int64_t batch,
             int epochs) {
  Preset preset = recipe(id, label, result, kStill, batch, batch / 32, {kZeroGamma, kSixteenBits});
  const double rate = rateBefore(26.1, 25, epochs);
  add(preset.values, kStill,
      {{"epochs", epochs},
       {"optimizer.name", "STiLL"},
       {"optimizer.lamb_learning_rate", 0.0012},
       {"optimizer.momentum", 0.955},
       {"optimizer.weight_decay", 8e-5},
       {"optimizer.transition", 25},
       {"warmup.epochs", 25},
       {"schedule.name", "Polynomial"},
       {"loss.smoothing", 0.1},
       {"loss.definition", "sony"},
       {"rate_scaling", "none"},
       {"reduction", "torus"}});
  add(preset.values, kStill + ": 1.36, and 26.1 behind the warm-up; here the polynomial falls from the first step on",
      {{"optimizer.learning_rate", rate}, {"warmup.from", std::round(1e5 * 1.36 / rate) / 1e5}});
  add(preset.values, kOurs + "; as other LARS recipes", {{"schedule.power", 2}});
  if (batch > 65536)
    preset.missing.push_back("SmoothOut, noise on the weights above 64K: published without its figures");
  return preset;
}

struct MlperfFigures {
  double epochs, rate, momentum, decay, warmup;
};

Preset mlperf(const std::string& id, const std::string& label, const std::string& result, std::int64_t batch,
              std::int64_t ranks, const MlperfFigures& figures) {
  Preset preset = recipe(id, label, result, kMlperf, batch, ranks, {kCorrection});
  const double rate = rateBefore(figures.rate, figures.warmup, figures.epochs);
  add(preset.values, kMlperf,
      {{"epochs", figures.epochs},
       {"optimizer.name", "LARS"},
       {"optimizer.variant", "you"},
       {"optimizer.momentum", figures.momentum},
       {"optimizer.weight_decay", figures.decay},
       {"optimizer.coefficient", 0.001},
       {"warmup.epochs", figures.warmup},
       {"schedule.name", "Polynomial"},
       {"schedule.power", 2},
       {"schedule.end", 1e-4 / rate},
       {"loss.smoothing", 0.1},
       {"rate_scaling", "none"},
       {"decay_exclude", kWithout}});
  add(preset.values,
      kMlperf +
          fmt::format(": {:g} behind the warm-up; here the polynomial falls from the first step on", figures.rate),
      {{"optimizer.learning_rate", rate}});
  return preset;
}

Preset mlperfNode() {
  Preset preset = mlperf("mlperf-3200", "MLPerf v4.0, one node", "ResNet-50 to 75.9 %: 12.0 minutes on 8 H200", 3200, 8,
                         {.epochs = 37, .rate = 11, .momentum = 0.9, .decay = 5e-5, .warmup = 2});
  preset.missing.push_back("it stops at 75.9 %, near epoch 35 of 37");
  return preset;
}

Preset mlperfRecord() {
  Preset preset = mlperf("mlperf-57k", "MLPerf v4.0, record", "ResNet-50 to 75.9 %: 11.0 seconds on 3,584 H100", 57344,
                         3584, {.epochs = 78, .rate = 23, .momentum = 0.95, .decay = 2.5e-5, .warmup = 32});
  preset.missing.push_back("batch statistics over pairs of ranks (32 samples): here those of a rank, or of all");
  return preset;
}

Preset airbench() {
  Preset preset =
      recipe("airbench94", "airbench CIFAR-10", "CIFAR-10: 94.01 % in 3.8 seconds on one A100", kAirbench, 1024, 1,
             {"a rate 64 times as high for biases, whitening weights, alternating flips, averaged views: "
              "see the sample cifar10-speed"});
  add(preset.values, kAirbench,
      {{"epochs", 9.9},
       {"optimizer.name", "Nesterov"},
       {"optimizer.momentum", 0.85},
       {"schedule.name", "OneCycle"},
       {"schedule.start", 0.2},
       {"schedule.peak", 0.23},
       {"schedule.end", 0.07},
       {"warmup.epochs", nullptr},
       {"loss.smoothing", 0.2},
       {"drop_last", true}});
  // There: rate 11.5 and decay 0.0153 for 1,024 samples whose losses are added, over 1 + 1 / (1 - momentum).
  add(preset.values, kAirbench + ": 11.5 of a summed loss is 1.5 of a mean",
      {{"optimizer.learning_rate", 1.5}, {"rate_scaling", "linear"}, {"base_batch", 1024}});
  add(preset.values, kAirbench + ": 0.0153 / 11.5", {{"optimizer.weight_decay", 0.00133}});
  return preset;
}

}  // namespace

std::span<const Preset> presetTable() {
  static const std::vector<Preset> table{
      goyal(),
      akiba(),
      jizhiResNet(),
      jizhiAlexNet(),
      sony(),
      still("still-64k", "STiLL 64K", "ResNet-50 on ImageNet: 76.13 % in 97 seconds on 2,048 V100", 65536, 90),
      still("still-80k", "STiLL 80K", "ResNet-50 on ImageNet: 75.93 % in 79.7 seconds on 2,560 V100", 81920, 90),
      still("still-96k", "STiLL 96K", "ResNet-50 on ImageNet: 75.46 % in 67.65 seconds on 3,072 V100", 98304, 90),
      still("still-96k-110", "STiLL 96K, 110 epochs", "ResNet-50 on ImageNet: 76.19 % on 3,072 V100", 98304, 110),
      still("still-128k-150", "STiLL 128K, 150 epochs", "ResNet-50 on ImageNet: 76.12 % on 4,096 V100", 131072, 150),
      mlperfNode(),
      mlperfRecord(),
      airbench()};
  return table;
}

}  // namespace loom
