// Images that go to the machine as bytes and are prepared there: the loader's bits.
#include "engine/training/image_input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "engine/cuda/cuda_backend.h"
#include "engine/data/write_png.h"
#include "engine/program/builder.h"
#include "tests/engine/cuda/fake/fake_device.h"
#include "tests/engine/data/pictures.h"
#include "tests/engine/training/fixture.h"

namespace loom {
namespace {

std::unique_ptr<Backend> fakeBackend() {
  return makeCudaBackend(std::make_shared<cuda::fake::FakeDevice>(cuda::fake::FakeOptions{.checkedCalls = 1000}));
}

// What the program makes of rows [first, first + batch) in this epoch.
std::vector<float> preparedBy(Backend& backend, const Dataset& dataset, const Preparation& preparation,
                              std::int64_t first, std::int64_t batch, std::int64_t epoch) {
  const Variable& variable = dataset.schema().variables[0];
  const Shape& shape = preparation.shape();
  ProgramBuilder builder(batch, 1, true);
  const TensorId x = builder.input("x", {batch, shape[0], shape[1], shape[2]}, DataType::f32);
  builder.result("x", ResultKind::output, x);
  Program program = builder.take();
  takeBytes(program, x, variable, preparation, 9);
  ParameterStore store(1, backend.makeMemory());
  const auto executable = backend.compile(program, store, {});
  for (std::int64_t i = 0; i < batch; ++i) {
    const auto raw = dataset.read(first + i, 0, nullptr);
    std::memcpy(executable->input("x").data() + static_cast<std::size_t>(i) * raw.size(), raw.data(), raw.size());
    auto* const sample = reinterpret_cast<std::int64_t*>(executable->input(kSamplesInput).data()) + 2 * i;
    sample[0] = first + i;
    sample[1] = epoch;
  }
  executable->run({});
  std::vector<float> found(static_cast<std::size_t>(batch * shape.elements()));
  executable->readResult("x", found);
  return found;
}

TEST(ImageInput, IsPreparedToTheLoadersBits) {
  const Json normalise = {{"step", "Normalise"}, {"mean", {120.7, 33.1, 9.9}}, {"deviation", {61.3, 7.7, 0.3}}};
  const std::vector<std::vector<Json>> preparations = {
      {},
      {{{"step", "Scale"}, {"by", 0.00392156862745098}}},
      {normalise, {{"step", "Pad"}, {"by", 2}}, {{"step", "Crop"}, {"size", {7, 6}}}, {{"step", "Flip"}}},
      {{{"step", "Pad"}, {"by", {0, 3}}, {"value", 17.0}},
       {{"step", "Cutout"}, {"size", 3}, {"value", 100.0}},
       {{"step", "Flip"}, {"probability", 0.7}},
       normalise,
       {{"step", "Crop"}, {"size", {5, 8}}},
       {{"step", "Pad"}, {"to", {6, 9}}, {"position", "start"}, {"value", -2.0}},
       {{"step", "Cutout"}, {"size", {2, 4}}}}};
  const Pictures dataset(12, 3, 7, 6);
  const auto cuda = fakeBackend();
  for (const std::vector<Json>& steps : preparations)
    for (const bool random : {true, false}) {
      SCOPED_TRACE(Json(steps).dump());
      const Variable& variable = dataset.schema().variables[0];
      ASSERT_TRUE(comesAsBytes(variable));
      const Preparation preparation(variable, steps, random, 9);
      const auto size = static_cast<std::size_t>(preparation.shape().elements());
      std::vector<float> expected(7 * size);
      for (std::int64_t i = 0; i < 7; ++i)
        preparation.apply(dataset.read(4 + i, 0, nullptr), variable.shape, 4 + i, 3,
                          std::span(expected).subspan(static_cast<std::size_t>(i) * size, size));
      EXPECT_EQ(preparedBy(cpuBackend(), dataset, preparation, 4, 7, 3), expected);
      EXPECT_EQ(preparedBy(*cuda, dataset, preparation, 4, 7, 3), expected);
    }
}

TEST(ImageInput, OnlyBytesOfOneShapeComeSo) {
  const Variable picture = Pictures(1, 3, 4, 4).schema().variables[0];
  EXPECT_TRUE(comesAsBytes(picture));
  Variable wide = picture, varying = picture, vector = picture, flat = picture;
  wide.type = DataType::f32;
  varying.smallest = {varying.shape[0], 1, 1};
  vector.kind = VariableKind::vector;
  flat.shape = Shape{48};
  for (const Variable& other : {wide, varying, vector, flat}) EXPECT_FALSE(comesAsBytes(other));
}

// The same machine, whose images the loader prepares.
class PreparedByTheLoader final : public Backend {
 public:
  std::string name() const override { return m_inner->name(); }
  std::unique_ptr<TensorMemory> makeMemory() override { return m_inner->makeMemory(); }
  std::unique_ptr<Executable> compile(Program program, ParameterStore& store, const CompileOptions& options) override {
    return m_inner->compile(std::move(program), store, options);
  }
  BufferPlan::Extent measure(Program program, const CompileOptions& options) override {
    return m_inner->measure(std::move(program), options);
  }

 private:
  std::unique_ptr<Backend> m_inner = fakeBackend();
};

TEST(ImageInput, TrainsAndValidatesAsWithTheLoadersImages) {
  const Workshop workshop("cuda-images");
  std::mt19937 random(3);
  std::string csv = "x:image,y:label\n";
  for (int row = 0; row < 24; ++row) {
    std::vector<std::byte> pixels(3 * 8 * 8);
    for (std::size_t i = 0; i < pixels.size(); ++i)
      pixels[i] = static_cast<std::byte>((row % 2 == 0 ? i % 8 : i / 8 % 8) * 20 + random() % 60);
    const std::string name = fmt::format("{}.png", row);
    writePng(workshop.path() / name, pixels, {3, 8, 8});
    csv += fmt::format("{},{}\n", name, row % 2);
  }
  workshop.write("images.csv", csv);
  const Json project = parseJson(R"({"loom": 1, "networks": {"main": {
      "nodes": [{"id": "x", "layer": "Input", "shape": [3, 8, 8]},
                {"id": "conv", "layer": "Convolution", "channels": 4, "kernel": [3, 3]}, {"id": "relu", "layer": "ReLU"},
                {"id": "flat", "layer": "Flatten"}, {"id": "fc", "layer": "Linear", "outputs": 2},
                {"id": "y", "layer": "Input", "shape": [1], "type": "label"},
                {"id": "loss", "layer": "SoftmaxCrossEntropy"}],
      "edges": [["x", "conv"], ["conv", "relu"], ["relu", "flat"], ["flat", "fc"], ["fc", "loss"], ["y", "loss.target"]]}},
    "datasets": {"training": {"csv": "images.csv", "prepare": [{"step": "Normalise", "variable": "x"},
        {"step": "Pad", "by": 1, "variable": "x"}, {"step": "Crop", "size": 8, "variable": "x"}, {"step": "Flip", "variable": "x"},
        {"step": "Cutout", "size": 3, "variable": "x"}]},
      "validation": {"csv": "images.csv"}},
    "training": {"network": "main", "dataset": "training", "validation": "validation", "epochs": 2, "batch": 10, "seed": 4,
                 "optimizer": {"name": "Momentum", "learning_rate": 0.02}}})",
                                 "images");
  const auto bytes = fakeBackend();
  PreparedByTheLoader loader;
  ASSERT_TRUE(bytes->preparesImages());
  ASSERT_FALSE(loader.preparesImages());
  const auto expected = workshop.train(project, "loader", {.backend = &loader});
  const auto found = workshop.train(project, "bytes", {.backend = bytes.get()});
  ASSERT_EQ(found.series("step", "loss").size(), 6u);
  EXPECT_EQ(found.series("step", "loss"), expected.series("step", "loss"));
  EXPECT_EQ(found.series("validation", "loss"), expected.series("validation", "loss"));
  EXPECT_EQ(found.tensors(), expected.tensors());
}

}  // namespace
}  // namespace loom
