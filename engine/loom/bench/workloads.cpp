#include "engine/loom/bench/workloads.h"

#include <fmt/format.h>

#include "engine/base/error.h"
#include "engine/loom/bench/drawing.h"

namespace loom {
namespace {

using namespace drawn;

Network mlp() {
  Drawing d = begin("mlp", {784}, "values", {1});
  d.add("Linear", linear(512));
  d.add("ReLU");
  d.add("Linear", linear(512));
  d.add("ReLU");
  d.add("Linear", linear(10));
  d.loss();
  return d.take();
}

Network mnistCnn() {
  Drawing d = begin("mnist-cnn", {1, 28, 28}, "values", {1});
  d.add("Convolution", convolution(32, 3, 1, 0, true));
  d.add("ReLU");
  d.add("Convolution", convolution(64, 3, 1, 0, true));
  d.add("ReLU");
  d.add("MaxPooling", {{"kernel", {2, 2}}});
  d.add("Dropout", {{"probability", 0.25}});
  d.add("Flatten");
  d.add("Linear", linear(128));
  d.add("ReLU");
  d.add("Dropout", {{"probability", 0.5}});
  d.add("Linear", linear(10));
  d.loss();
  return d.take();
}

Network resnet20() {
  Drawing d = begin("resnet20", {3, 32, 32}, "values", {1});
  convolveNormalise(d, 16, 3, 1, 1);
  d.add("ReLU");
  std::int64_t before = 16;
  for (const std::int64_t channels : {16, 32, 64}) {
    for (int block = 0; block < 3; ++block) {
      const std::int64_t stride = channels > 16 && block == 0 ? 2 : 1;
      basicBlock(d, channels, stride, stride != 1 || before != channels);
      before = channels;
    }
  }
  d.add("GlobalAveragePooling");
  d.add("Linear", linear(10));
  d.loss();
  return d.take();
}

Network resnet50() {
  Drawing d = begin("resnet50", {3, 224, 224}, "values", {1});
  convolveNormalise(d, 64, 7, 2, 3);
  d.add("ReLU");
  d.add("MaxPooling", {{"kernel", {3, 3}}, {"stride", {2, 2}}, {"padding", "explicit"}, {"pads", {1, 1}}});
  struct Group {
    std::int64_t width, blocks, stride;
  };
  std::int64_t before = 64;
  for (const Group& group : {Group{64, 3, 1}, Group{128, 4, 2}, Group{256, 6, 2}, Group{512, 3, 2}}) {
    for (std::int64_t block = 0; block < group.blocks; ++block) {
      const std::int64_t stride = block == 0 ? group.stride : 1, channels = 4 * group.width;
      bottleneck(d, group.width, stride, stride != 1 || before != channels);
      before = channels;
    }
  }
  d.add("GlobalAveragePooling");
  d.add("Linear", linear(1000));
  d.loss();
  return d.take();
}

Network lstm() {
  Drawing d = begin("lstm", {100, 80}, "values", {1});
  d.add("LSTM", {{"units", 512}});
  d.add("LSTM", {{"units", 512}, {"returns", "last"}});
  d.add("Linear", linear(1000));
  d.loss();
  return d.take();
}

Network gptMini() {
  constexpr std::int64_t kWidth = 384, kTokens = 128, kVocabulary = 256, kHeads = 6, kBlocks = 6;
  Drawing d = begin("gpt-mini", {kTokens}, "index", {kTokens});
  d.add("Embedding", {{"vocabulary", kVocabulary}, {"channels", kWidth}});
  d.add("PositionEmbedding", {{"deviation", 1.0}});  // as PyTorch's Embedding draws it
  for (std::int64_t block = 0; block < kBlocks; ++block) transformerBlock(d, kWidth, kHeads);
  d.add("LayerNormalization");
  d.add("Linear", linear(kVocabulary, 1));
  d.loss();
  return d.take();
}

struct Row {
  const char* name;
  Network (*draw)();
  std::int64_t batch;
  std::int64_t classes;
};
constexpr Row kRows[] = {{"mlp", mlp, 128, 10},           {"mnist-cnn", mnistCnn, 64, 10},
                         {"resnet20", resnet20, 128, 10}, {"resnet50", resnet50, 32, 1000},
                         {"lstm", lstm, 32, 1000},        {"gpt-mini", gptMini, 16, 256}};

}  // namespace

const std::vector<std::string>& workloadNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Row& row : kRows) all.emplace_back(row.name);
    return all;
  }();
  return names;
}

Workload makeWorkload(const std::string& name) {
  for (const Row& row : kRows) {
    if (name != row.name) continue;
    Workload workload{name, row.draw(), row.batch, update(name == "gpt-mini"), {{"y", row.classes}}};
    if (name == "gpt-mini") workload.classes["x"] = 256;
    return workload;
  }
  throwError(ErrorCode::badArgument, "there is no workload '{}'; there are {}", name, fmt::join(workloadNames(), ", "));
}

}  // namespace loom
