// The ten projects on data made for them: some steps of each, with every network that they train.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "engine/data/write_png.h"
#include "engine/network/flatten.h"
#include "tests/engine/exchange/sdcproj_fixture.h"
#include "tests/engine/training/fixture.h"

namespace loom {
namespace {

constexpr int kRows = 40;

// A .npy of float32: the format's first version.
std::string npy(const Shape& shape, std::mt19937& random) {
  std::string extents;
  for (const std::int64_t extent : shape) extents += std::to_string(extent) + ",";
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + extents + "), }";
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string text = std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size() % 256) +
                     static_cast<char>(header.size() / 256) + header;
  std::normal_distribution<float> normal;
  for (std::int64_t i = 0; i < shape.elements(); ++i) {
    const float value = normal(random);
    text.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return text;
}

// A column for each variable that the networks read: classes, symbols, and files of numbers in the shape that is
// wanted.
std::string csv(const Workshop& workshop, const Project& project, unsigned seed) {
  std::mt19937 random(seed);
  std::map<std::string, DatasetInput> variables;
  for (const Network& network : project.networks)
    for (const DatasetInput& input : datasetInputs(flatNetwork(project, network.name)))
      variables.emplace(input.variable, input);
  std::string header;
  for (const auto& [name, input] : variables) {
    if (input.shape == Shape{1} || input.type == DataType::f32)
      header += (header.empty() ? "" : ",") + name;
    else
      for (std::int64_t i = 0; i < input.shape.elements(); ++i)
        header += (header.empty() ? "" : ",") + name + "__" + std::to_string(i);
  }
  std::string text = header + "\n";
  for (int row = 0; row < kRows; ++row) {
    std::string line;
    for (const auto& [name, input] : variables) {
      if (input.type != DataType::f32) {
        for (std::int64_t i = 0; i < input.shape.elements(); ++i)
          line += (line.empty() ? "" : ",") + std::to_string(random() % 3);
        continue;
      }
      const std::string file = name + std::to_string(seed) + "_" + std::to_string(row) + ".npy";
      workshop.write(file, npy(input.shape, random));
      line += (line.empty() ? "" : ",") + file;
    }
    text += line + "\n";
  }
  return text;
}

TEST(SdcprojTraining, EveryConstructTrains) {
  for (const char* name : kConstructs) {
    SCOPED_TRACE(name);
    const Workshop workshop(std::string("sdcproj_") + name);
    std::filesystem::copy_file(sdcproj(name), workshop.path() / "p.sdcproj");
    // The shapes of the data follow from the drawing, the drawing is imported again beside them.
    const Project drawn = importFile({.file = workshop.path() / "p.sdcproj"}).project;
    workshop.write("train.csv", csv(workshop, drawn, 1));
    workshop.write("valid.csv", csv(workshop, drawn, 2));
    const Imported imported = importFile({.file = workshop.path() / "p.sdcproj"});
    EXPECT_TRUE(imported.report.complete()) << reportText(imported.report);
    Json project = parseJson(writeProject(imported.project), name);
    Json& settings = project["training"].is_array() ? project["training"][0] : project["training"];
    settings["max_steps"] = 4;
    settings["seed"] = 3;
    const Workshop::Run run = workshop.train(project, "run");
    EXPECT_EQ(run.result.step, 4);
    for (const double loss : run.series("step", "loss")) EXPECT_TRUE(std::isfinite(loss)) << loss;
    EXPECT_FALSE(run.of("validation").empty());
  }
}

}  // namespace
}  // namespace loom
