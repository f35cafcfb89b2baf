// Projects of Neural Network Console: what becomes of each construct, and that nothing of it is lost in silence.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/network/flatten.h"
#include "tests/engine/exchange/sdcproj_fixture.h"
#include "tests/engine/run/folder.h"

namespace loom {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using Kind = ReportItem::Kind;

std::vector<std::string> sentences(const ImportReport& report, Kind kind) {
  std::vector<std::string> all;
  for (const ReportItem& item : report.items)
    if (item.kind == kind) all.push_back(item.network + " / " + item.layer + ": " + item.sentence);
  return all;
}

Imported imported(const std::string& name) {
  return importFile({.file = sdcproj(name)});
}

// Beside its data, which are not there, nothing of the ten is lost.
TEST(Sdcproj, ImportsEveryConstructWhole) {
  for (const char* name : kConstructs) {
    const Imported result = imported(name);
    for (const std::string& lost : sentences(result.report, Kind::untranslatable))
      EXPECT_THAT(lost, HasSubstr("choose its CSV")) << name;
    const std::string text = writeProject(result.project);
    const ReadProject again = readProject(text, name);
    EXPECT_THAT(again.problems, IsEmpty()) << name;
    EXPECT_EQ(writeProject(again.project), text) << name;
  }
}

// Every layer of the file is told of, once at least.
TEST(Sdcproj, TellsOfEveryLayer) {
  for (const char* name : kConstructs) {
    const std::string text = readFile(sdcproj(name));
    std::size_t layers = 0;
    for (std::size_t at = 0; (at = text.find("\nType=", at)) != text.npos; ++at) ++layers;
    std::set<std::string> told;
    for (const ReportItem& item : imported(name).report.items)
      if (item.layer.ends_with(')')) told.insert(item.network + item.layer);
    // The end of a repeat is told with its beginning.
    std::size_t ends = 0;
    for (std::size_t at = 0; (at = text.find("\nType=RepeatEnd", at)) != text.npos; ++at) ++ends;
    EXPECT_EQ(told.size() + ends, layers) << name;
  }
}

// A loop along an axis: as long as its sequence, states with a number or noise at the first step.
TEST(Sdcproj, LoopsWithTheirStates) {
  const Imported result = imported("loops");
  const Network& main = *result.project.network("Main");
  EXPECT_EQ(main.find("RecurrentInput")->values["length"], 5);
  EXPECT_EQ(main.find("Delay")->values["value"], 0.5);
  EXPECT_EQ(main.find("Delay")->values["shape"], Json::array({3}));
  const Node& initial = *main.find("Delay_2_initial");
  EXPECT_EQ(initial.values["source"], "normal");
  EXPECT_THAT(main.edges, Contains(Edge{{"Delay_2_initial", "output"}, {"Delay_2", "initial"}}));
  EXPECT_EQ(main.find("BinaryWeightAffine")->layer, "BinaryLinear");
  EXPECT_EQ(main.find("BinaryWeightAffine")->values["form"], "scaled");
  EXPECT_FALSE(main.find("BinaryConnectAffine")->values.contains("form"));
  // Five turns with one set of weights.
  const Network flat = flatNetwork(result.project, "Main");
  EXPECT_EQ(std::count_if(
                flat.nodes.begin(), flat.nodes.end(),
                [](const Node& node) { return node.layer == "BinaryLinear" && node.shares == "BinaryWeightAffine"; }),
            4);
}

TEST(Sdcproj, LayersWithTheirFields) {
  const Imported result = imported("layers");
  const Network& main = *result.project.network("Main");
  const Node& convolution = *main.find("Convolution");
  EXPECT_EQ(convolution.layer, "Convolution");
  EXPECT_EQ(convolution.values,
            Json({{"channels", 4}, {"kernel", {5, 5}}, {"padding", "valid"}, {"initializer", "xavier_normal"}}));
  EXPECT_EQ(main.find("MaxPooling")->values, Json::object());
  EXPECT_EQ(main.find("Affine_2")->values["outputs"], 3);
  EXPECT_EQ(main.find("Dropout")->values["probability"], 0.25);
  EXPECT_EQ(main.find("Softmax")->values, Json({{"axis", 0}})) << "the last one by default";
  EXPECT_EQ(main.find("CategoricalCrossEntropy")->layer, "CategoricalCrossEntropy");
  EXPECT_THAT(main.edges, Contains(Edge{{"Softmax", "output"}, {"CategoricalCrossEntropy", "input"}}));
  EXPECT_EQ(main.find("y")->values, Json({{"shape", {1}}, {"type", "label"}}));
  EXPECT_EQ(main.find("Input")->values["variable"], "x");
  ASSERT_EQ(main.comments.size(), 1u);
  EXPECT_EQ(main.comments[0].text, "Look here\nand there");
  EXPECT_EQ(result.project.notes, "A small one\nof two lines");
  EXPECT_TRUE(main.find("ReLU")->placed);
  EXPECT_LT(main.find("ReLU")->y, main.find("MaxPooling")->y);
  EXPECT_EQ(result.project.training.settings["epochs"], 2.0);
  EXPECT_EQ(result.project.training.settings["batch"], 4);
  EXPECT_EQ(result.project.training.validation, "Validation");
}

TEST(Sdcproj, WindowsKeepTheirShapes) {
  const Imported result = imported("windows");
  const Analysis analysis = analyse(flatNetwork(result.project, "Main"));
  const auto shape = [&](const char* node) { return analysis.nodes.at(node).outputs.at(0).toString(); };
  EXPECT_EQ(shape("Full"), "4×13×13");
  EXPECT_EQ(shape("Strided"), "4×7×7");  // (13 + 2 · 2 − 5) / 2 + 1
  EXPECT_EQ(shape("Dilated"), "8×7×7");
  EXPECT_EQ(shape("Up"), "8×4×4");  // 7 / 2, rounded up
  EXPECT_EQ(shape("AveragePooling"), "8×4×4");
  EXPECT_EQ(shape("Deconvolution"), "3×8×8");  // (4 − 1) · 2 + 4 − 2 · 1
  EXPECT_EQ(shape("GlobalAveragePooling"), "3×1×1");
  const Network& main = *result.project.network("Main");
  EXPECT_EQ(main.find("Strided")->values["pads"], Json::array({2, 2})) << "ours would put one more behind than before";
  EXPECT_EQ(main.find("BatchNormalization")->values, Json({{"momentum", 0.5}, {"epsilon", 0.01}}));
  EXPECT_EQ(main.find("BatchNormalization_2")->values["zero_gamma"], true);
  EXPECT_EQ(main.find("AveragePooling")->values["include_padding"], false);
}

TEST(Sdcproj, UnitsWithArguments) {
  const Imported result = imported("units");
  ASSERT_EQ(result.project.units.size(), 2u);
  const Network& block = *result.project.unit("ConvBlock");
  EXPECT_EQ(block.argument("Maps")->defaultValue, 16);
  EXPECT_EQ(block.argument("Kernel")->defaultValue, Json::array({5, 5}));
  EXPECT_EQ(block.find("Conv")->values["channels"], "=Maps");
  EXPECT_EQ(block.find("Conv")->values["kernel"], "=Kernel");
  EXPECT_EQ(result.project.network("Main")->find("Stage")->unit, "ConvBlock");
  EXPECT_EQ(result.project.unit("Residual")->find("Wide")->values["Maps"], "=Width*2");
  const Network flat = flatNetwork(result.project, "Main");
  const Analysis analysis = analyse(flat);
  EXPECT_EQ(analysis.nodes.at("Stage/Conv").outputs.at(0).toString(), "6×8×8");
  EXPECT_EQ(analysis.nodes.at("Stage_2/Wide/Conv").outputs.at(0).toString(), "12×8×8");
  EXPECT_EQ(analysis.nodes.at("Stage_2/Add2").outputs.at(0).toString(), "6×8×8");
}

TEST(Sdcproj, RepeatsInRepeats) {
  const Imported result = imported("repeats");
  const Network& main = *result.project.network("Main");
  ASSERT_EQ(main.groups.size(), 2u);
  EXPECT_EQ(main.group("RepeatStart")->repeat, 2);
  EXPECT_EQ(main.group("RepeatStart_2")->repeat, 3);
  EXPECT_EQ(main.group("RepeatStart_2")->parent, "RepeatStart");
  EXPECT_EQ(main.find("ReLU")->group, "RepeatStart_2");
  EXPECT_EQ(main.find("Add2")->group, "RepeatStart");
  EXPECT_EQ(main.find("Affine")->group, "");
  const Network flat = flatNetwork(result.project, "Main");
  EXPECT_EQ(std::count_if(flat.nodes.begin(), flat.nodes.end(), [](const Node& node) { return node.layer == "ReLU"; }),
            6);
  EXPECT_EQ(
      std::count_if(flat.nodes.begin(), flat.nodes.end(), [](const Node& node) { return node.layer == "Convolution"; }),
      2);
}

TEST(Sdcproj, NetworksShareWeightsByNameAndScope) {
  const Imported result = imported("networks");
  ASSERT_EQ(result.project.networks.size(), 3u);
  EXPECT_EQ(result.project.training.updates.at(0).network, "Training");
  EXPECT_EQ(result.project.training.validationNetwork, "Validation");
  EXPECT_EQ(result.project.network("Validation")->find("TopNError")->layer, "Error");
  EXPECT_EQ(result.project.network("Runtime_1")->find("Hidden")->shares, "Affine");
}

// nnabla's conventions said in ours; the figures by hand.
TEST(Sdcproj, SolversAreConverted) {
  const Imported result = imported("solvers");
  const TrainingSpec& training = result.project.training;
  ASSERT_EQ(training.updates.size(), 2u);
  const UpdateSpec &first = training.updates[0], &second = training.updates[1];
  // Four passes are summed: 0.01 · 4 on their mean; 0.0004 · w beside a sum of four is 0.0001 · w beside their mean.
  EXPECT_EQ(first.optimizer["name"], "Momentum");
  EXPECT_DOUBLE_EQ(first.optimizer["learning_rate"].get<double>(), 0.04);
  EXPECT_DOUBLE_EQ(first.optimizer["weight_decay"].get<double>(), 0.0001);
  EXPECT_DOUBLE_EQ(first.optimizer["momentum"].get<double>(), 0.8);
  EXPECT_THAT(first.decayExclude, IsEmpty());
  EXPECT_EQ(first.schedule, Json({{"name", "Step"}, {"factor", 0.1}, {"at", {1.0, 2.0}}}));
  EXPECT_EQ(first.warmup, Json({{"steps", 2}})) << "8 passes of which 4 make a step";
  // Adam does not feel the size of the gradient; its decay is relative to the first rate in nnabla.
  EXPECT_EQ(second.optimizer["name"], "AdamW");
  EXPECT_DOUBLE_EQ(second.optimizer["learning_rate"].get<double>(), 0.01);
  EXPECT_DOUBLE_EQ(second.optimizer["weight_decay"].get<double>(), 0.1);
  EXPECT_EQ(second.schedule, Json({{"name", "Exponential"}, {"factor", 0.5}, {"every", 2.0}}))
      << "16 of the 8 passes of an epoch";
  EXPECT_EQ(training.settings["batch"], 20);
  EXPECT_EQ(training.settings["accumulate"], 4);
  EXPECT_EQ(training.settings["precision"], "bf16");
  EXPECT_THAT(first.parameters, testing::UnorderedElementsAre("Affine_2/weight", "Affine_2/bias"))
      << "a rate of 0 leaves a layer as it is";
}

TEST(Sdcproj, ExpressionsOverShapes) {
  const Imported result = imported("expressions");
  const Analysis analysis = analyse(flatNetwork(result.project, "Main"));
  for (const Problem& problem : analysis.problems) EXPECT_EQ(problem.severity, Severity::warning) << problem.message;
  const auto shape = [&](const char* node) { return analysis.nodes.at(node).outputs.at(0).toString(); };
  EXPECT_EQ(shape("Reshape"), "6×3");  // 2 × 3 × 3 values of 2 × 6 × 8: half of the rows, every second of six columns
  EXPECT_EQ(shape("Transpose"), "3×6");
  EXPECT_EQ(shape("Convolution"), "8×6");  // (3 + 1) · 2 channels
  EXPECT_EQ(shape("Affine"), "8");
  EXPECT_EQ(shape("Affine_2"), "3");
}

TEST(Sdcproj, WhatTheDataAre) {
  const Imported result = imported("data");
  const Network& main = *result.project.network("Main");
  EXPECT_EQ(main.find("Word")->values["type"], "index");
  EXPECT_EQ(main.find("Class")->values["type"], "label");
  EXPECT_EQ(main.find("Noise")->values, Json({{"shape", {3}}, {"source", "normal"}, {"deviation", 0.5}}));
  EXPECT_EQ(main.find("bits")->values["shape"], Json::array({4})) << "as what it is compared with";
  EXPECT_EQ(main.find("HuberLoss")->values, Json({{"delta", 0.5}, {"weight", 2.0}}));
  ASSERT_EQ(result.project.datasets.size(), 2u);
  ASSERT_EQ(result.project.datasets[0].prepare.size(), 1u);
  EXPECT_EQ(result.project.datasets[0].prepare[0]["variable"], "picture");
}

// An ImageAugmentation with a window is ours with as much room to move, and the middle of what it gives.
TEST(Sdcproj, AugmentationKeepsTheExtents) {
  const TestFolder folder("sdcproj_images");
  const std::filesystem::path file = folder.path() / "images.sdcproj";
  writeFileAtomically(
      file,
      std::string_view("[Network_Global]\n[Layer_0]\nID=1\nType=Input\nProperty_0_Name=Name\nProperty_0_Value="
                       "x\nProperty_1_Name=Size\nProperty_1_Value=3,11,12\n"
                       "[Layer_1]\nID=2\nType=ImageAugmentation\nProperty_0_Name=Name\nProperty_0_Value=A\nProperty_1_"
                       "Name=Shape\nProperty_1_Value=3,8,8\nProperty_2_Name=FlipLR\nProperty_2_Value=True\n"
                       "Property_3_Name=Angle\nProperty_3_Value=0.5\nProperty_4_Name=MinScale\nProperty_4_Value=1."
                       "0\nProperty_5_Name=Distortion\nProperty_5_Value=0.1\n"
                       "Property_6_Name=ContrastEach\nProperty_6_Value=True\n"
                       "[Layer_2]\nID=3\nType=ReLU\nProperty_0_Name=Name\nProperty_0_Value=R\n[Link_0]\nSourceLayerID="
                       "1\nDestLayerID=2\n[Link_1]\nSourceLayerID=2\nDestLayerID=3\n"));
  const Imported result = importFile({.file = file});
  EXPECT_EQ(analyse(flatNetwork(result.project, "Main")).nodes.at("R").outputs.at(0).toString(), "3×8×8");
  for (const std::string& lost : sentences(result.report, Kind::untranslatable))
    EXPECT_THAT(lost, testing::AnyOf(HasSubstr("has no loss"), HasSubstr("has no data yet")));
  const Node& node = *result.project.networks.at(0).find("A");
  EXPECT_EQ(node.layer, "ImageAugmentation");
  EXPECT_EQ(node.values.size(), 4u) << node.values.dump();
  EXPECT_EQ(node.values["flip_horizontal"], true);
  EXPECT_EQ(node.values["distortion"], 0.1);
  EXPECT_NEAR(node.values["angle"].get<double>(), 28.648, 1e-3) << "there it is told in radians";
  EXPECT_EQ(node.values["shift"], "=max((Input[1]-8)/2,0)+0");
  EXPECT_THAT(sentences(result.report, Kind::converted),
              Contains(HasSubstr("ContrastEach: all channels change alike")));
}

TEST(Sdcproj, ImagesWithTheirFields) {
  const Imported result = imported("images");
  const Network& main = *result.project.network("Main");
  EXPECT_EQ(main.find("MeanSubtraction")->values, Json({{"base_axis", 1}}));
  EXPECT_EQ(main.find("RandomErase")->values,
            Json({{"probability", 0.7}, {"max_area", 0.25}, {"low", -1.0}, {"patches", 2}, {"share", false}}));
  EXPECT_EQ(main.find("BatchInv")->layer, "MatrixInverse");
  EXPECT_EQ(main.find("CumSum")->layer, "CumulativeSum");
  EXPECT_EQ(main.find("CumSum")->values, Json({{"axis", 1}, {"reverse", true}}));
}

TEST(Sdcproj, WhatIsUnknownIsListedAndKept) {
  const TestFolder folder("sdcproj");
  const std::filesystem::path file = folder.path() / "odd.sdcproj";
  writeFileAtomically(
      file,
      std::string_view(
          "[Network_Global]\n[Layer_0]\nID=1\nType=Input\nProperty_0_Name=Name\nProperty_0_Value=In "
          "put!\nProperty_1_Name=Size\nProperty_1_Value=4\n"
          "[Layer_1]\nID=2\nType=NmsDetection2d\nProperty_0_Name=Name\nProperty_0_Value=Nms\nProperty_1_Name="
          "Threshold\nProperty_1_Value=0.5\n"
          "[Layer_2]\nID=3\nType=Affine\nProperty_0_Name=Name\nProperty_0_Value=A\nProperty_1_Name=OutShape\nProperty_"
          "1_Value=*UnitProperty(Size)\nProperty_2_Name=W.LRateMultiplier\nProperty_2_Value=0.5\n"
          "[Link_0]\nSourceLayerID=1\nDestLayerID=2\n[Link_1]\nSourceLayerID=2\nDestLayerID=3\n[Optimizer_0]"
          "\nOptimizer_NetworkName=Main\nSolverName=Prodigy\n[Script]\nEnabled=1\n"));
  const Imported result = importFile({.file = file});
  const auto lost = sentences(result.report, Kind::untranslatable);
  EXPECT_THAT(lost, Contains(HasSubstr("Nms (NmsDetection2d): there is no counterpart of NmsDetection2d")));
  EXPECT_THAT(lost, Contains(HasSubstr("A (Affine): OutShape is *UnitProperty(Size)")));
  EXPECT_THAT(lost, Contains(HasSubstr("W learns at 0.5 times the rate")));
  EXPECT_THAT(lost, Contains(HasSubstr("there is no rule Prodigy")));
  EXPECT_THAT(lost, Contains(HasSubstr("scripts of Console")));
  EXPECT_THAT(sentences(result.report, Kind::ignored), Contains(HasSubstr("Threshold=0.5 has no counterpart")));
  const Network& main = result.project.networks.at(0);
  EXPECT_NE(main.find("In_put"), nullptr);
  EXPECT_EQ(main.find("Nms")->layer, "NmsDetection2d") << "it keeps its place in the drawing";
  EXPECT_FALSE(result.report.complete());
  EXPECT_THAT(reportText(result.report), HasSubstr("untranslatable:\n  Main / Nms (NmsDetection2d)"));
  EXPECT_EQ(toJson(result.report)["counts"]["untranslatable"], result.report.count(Kind::untranslatable));
}

// Rules that are the same here keep their name and their values, and nothing is reported of them.
TEST(Sdcproj, RulesThatAreTheSameHereStay) {
  const TestFolder folder("sdcproj_rules");
  const auto optimizerOf = [&](const std::string& rule, const std::string& parameters) {
    const std::filesystem::path file = folder.path() / (rule + ".sdcproj");
    writeFileAtomically(file,
                        std::string_view("[Network_Global]\n[Layer_0]\nID=1\nType=Input\nProperty_0_Name=Name\n"
                                         "Property_0_Value=x\nProperty_1_Name=Size\nProperty_1_Value=4\n[Optimizer_0]\n"
                                         "Optimizer_NetworkName=Main\nSolverName=" +
                                         rule + "\n" + parameters));
    const Imported result = importFile({.file = file});
    EXPECT_THAT(sentences(result.report, Kind::untranslatable), testing::Not(Contains(HasSubstr(rule))));
    return result.project.training.updates.at(0).optimizer;
  };
  const Json adamax = optimizerOf("Adamax",
                                  "SolverParameterName_0=Alpha\nSolverParameter_0=0.003\n"
                                  "SolverParameterName_1=Beta2\nSolverParameter_1=0.99\n");
  EXPECT_EQ(adamax, Json({{"name", "Adamax"}, {"beta2", 0.99}, {"learning_rate", 0.003}}));
  const Json adadelta = optimizerOf("Adadelta", "SolverParameterName_0=Decay\nSolverParameter_0=0.95\n");
  EXPECT_EQ(adadelta["name"], "Adadelta");
  EXPECT_EQ(adadelta["decay"], 0.95);
}

TEST(Importer, NothingIsOverwritten) {
  const TestFolder folder("sdcproj_out");
  const Imported result = imported("layers");
  const std::filesystem::path out = folder.path() / "p.loom";
  writeImported(result, out);
  EXPECT_EQ(loadProject(out).networks.size(), 1u);
  try {
    writeImported(result, out);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::badArgument);
    EXPECT_THAT(error.what(), HasSubstr("overwrites nothing"));
  }
}

TEST(Importer, SaysWhatItCanRead) {
  const TestFolder folder("sdcproj_none");
  writeFileAtomically(folder.path() / "a.txt", std::string_view("hello"));
  EXPECT_EQ(findImporter(folder.path() / "a.txt"), nullptr);
  try {
    importFile({.file = folder.path() / "a.txt"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::badData);
    EXPECT_THAT(error.what(), HasSubstr(".sdcproj"));
  }
  EXPECT_THROW(importFile({.file = folder.path() / "not there"}), Error);
  const std::atomic<bool> stop = true;
  try {
    importFile({.file = sdcproj("layers"), .stop = &stop});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::stopped);
  }
}

}  // namespace
}  // namespace loom
