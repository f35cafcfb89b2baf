#include "engine/loom/bench/probes.h"

#include "engine/loom/bench/drawing.h"

namespace loom {
namespace {

using namespace drawn;

// Flat and tall products, few and many rows.
Network dense() {
  Drawing d = begin("dense", {640}, "values", {1});
  d.add("Linear", linear(384));
  d.add("ReLU");
  d.add("Linear", linear(448));
  d.add("ReLU");
  d.add("Linear", linear(12));
  d.loss();
  return d.take();
}
Network wideDense() {
  Drawing d = begin("wide-dense", {4096}, "values", {1});
  d.add("Linear", linear(160));
  d.add("ReLU");
  d.add("Dropout", {{"probability", 0.5}});
  d.add("Linear", linear(640));
  d.loss();
  return d.take();
}

Network plainImages() {
  Drawing d = begin("plain-images", {1, 26, 26}, "values", {1});
  d.add("Convolution", convolution(32, 3, 1, 0, true));
  d.add("ReLU");
  d.add("Convolution", convolution(48, 3, 1, 0, true));
  d.add("ReLU");
  d.add("MaxPooling", {{"kernel", {2, 2}}});
  d.add("Dropout", {{"probability", 0.25}});
  d.add("Flatten");
  d.add("Linear", linear(96));
  d.add("ReLU");
  d.add("Linear", linear(12));
  d.loss();
  return d.take();
}

Network narrowResidual() {
  Drawing d = begin("narrow-residual", {3, 40, 40}, "values", {1});
  convolveNormalise(d, 16, 3, 1, 1);
  d.add("ReLU");
  basicBlock(d, 16, 1, false);
  basicBlock(d, 32, 2, true);
  basicBlock(d, 64, 2, true);
  d.add("GlobalAveragePooling");
  d.add("Linear", linear(12));
  d.loss();
  return d.take();
}

// Pictures that no cache holds.
Network largeImages() {
  Drawing d = begin("large-images", {3, 192, 192}, "values", {1});
  convolveNormalise(d, 64, 7, 2, 3);
  d.add("ReLU");
  d.add("MaxPooling", {{"kernel", {3, 3}}, {"stride", {2, 2}}, {"padding", "explicit"}, {"pads", {1, 1}}});
  bottleneck(d, 64, 1, true);
  bottleneck(d, 64, 1, false);
  d.add("GlobalAveragePooling");
  d.add("Linear", linear(160));
  d.loss();
  return d.take();
}

// Many channels of small pictures.
Network deepChannels() {
  Drawing d = begin("deep-channels", {256, 28, 28}, "values", {1});
  bottleneck(d, 128, 1, true);
  bottleneck(d, 256, 2, true);
  bottleneck(d, 256, 1, false);
  bottleneck(d, 512, 2, true);
  d.add("GlobalAveragePooling");
  d.add("Linear", linear(160));
  d.loss();
  return d.take();
}

Network recurrent() {
  Drawing d = begin("recurrent", {24, 64}, "values", {1});
  d.add("LSTM", {{"units", 384}});
  d.add("LSTM", {{"units", 640}, {"returns", "last"}});
  d.add("Linear", linear(640));
  d.loss();
  return d.take();
}

Network tokens() {
  constexpr std::int64_t kTokens = 112, kWidth = 320, kHeads = 5, kVocabulary = 320;
  Drawing d = begin("tokens", {kTokens}, "index", {kTokens});
  d.add("Embedding", {{"vocabulary", kVocabulary}, {"channels", kWidth}});
  d.add("PositionEmbedding");
  transformerBlock(d, kWidth, kHeads);
  transformerBlock(d, kWidth, kHeads);
  d.add("LayerNormalization");
  d.add("Linear", linear(kVocabulary, 1));
  d.loss();
  return d.take();
}

}  // namespace

std::vector<Workload> processorProbes() {
  std::vector<Workload> probes;
  const auto add = [&](Network network, std::int64_t batch, std::int64_t classes, bool adam = false) {
    const std::string name = network.name;
    probes.push_back({name, std::move(network), batch, update(adam), {{"y", classes}, {"x", classes}}});
  };
  add(dense(), 96, 12);
  add(wideDense(), 48, 640);
  add(plainImages(), 48, 12);
  add(narrowResidual(), 64, 12);
  add(largeImages(), 12, 160);
  add(deepChannels(), 6, 160);
  add(recurrent(), 32, 640);
  add(tokens(), 8, 320, true);
  return probes;
}

}  // namespace loom
