// Files of strangers held against what a run was trained on: another rate, other channels, a broken one among good
// ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <sstream>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/data/columns/raw_columns.h"
#include "engine/data/write_png.h"
#include "tests/engine/training/fixture.h"

namespace loom {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using Files = std::vector<std::filesystem::path>;

// PCM of 16 bits: a tone of `hertz` for `seconds`, in each channel times its gain.
std::string tone(int rate, double hertz, double seconds, const std::vector<double>& gains = {1}) {
  std::string data;
  const auto number = [](std::string& text, std::uint32_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
  };
  for (int frame = 0; frame < static_cast<int>(seconds * rate); ++frame)
    for (const double gain : gains)
      number(data,
             static_cast<std::uint32_t>(
                 static_cast<std::int16_t>(12000 * gain * std::sin(2 * std::numbers::pi * hertz * frame / rate))),
             2);
  const auto channels = static_cast<std::uint32_t>(gains.size());
  std::string text = "RIFF";
  number(text, 36 + static_cast<std::uint32_t>(data.size()), 4);
  text += "WAVEfmt ";
  number(text, 16, 4);
  number(text, 1, 2);
  number(text, channels, 2);
  number(text, static_cast<std::uint32_t>(rate), 4);
  number(text, static_cast<std::uint32_t>(rate) * channels * 2, 4);
  number(text, channels * 2, 2);
  number(text, 16, 2);
  text += "data";
  number(text, static_cast<std::uint32_t>(data.size()), 4);
  return text + data;
}

// A run that tells a tone of 500 Hz from one of 1000 Hz, at 16000 samples a second.
struct Tones {
  Workshop workshop{"predict-tones"};
  Workshop::Run run;
  Tones() {
    std::string index = "x:wave,y:label\n";
    for (int i = 0; i < 12; ++i) {
      const std::string name = fmt::format("t{}.wav", i);
      workshop.write(name, tone(16000, i % 2 ? 1000 : 500, 0.02, {0.5 + 0.04 * i}));
      index += fmt::format("{},{}\n", name, i % 2);
    }
    workshop.write("train.csv", index);
    Json project = perceptron(false);
    project["networks"]["main"]["nodes"][0]["shape"] = {320, 1};
    project["datasets"].erase("validation");
    project["datasets"]["training"]["prepare"] = Json::parse(R"([{"step": "Pad", "to": [320]}])");
    project["training"]["epochs"] = 20;
    run = workshop.train(project, "run");
  }
  std::filesystem::path write(const char* name, const std::string& text) const {
    workshop.write(name, text);
    return workshop.path() / name;
  }
};

std::vector<std::vector<float>> saidOf(const Predictions& predictions) {
  std::vector<std::vector<float>> said;
  for (const PredictedSample& each : predictions.kept) said.push_back(each.outputs[0].values);
  return said;
}

// Half the rate is half the steps: unheard, 500 Hz would be the 1000 Hz of the training.
TEST(FilesToPredict, SoundsComeToTheRateOfTheRun) {
  const Tones tones;
  EXPECT_EQ(parseJson(readFile(tones.run.folder.runFile()), "run.json")["datasets"]["training"]["rates"],
            Json({{"x", 16000}}));
  const auto own = tones.write("own.wav", tone(16000, 500, 0.02, {0.7})),
             slow = tones.write("slow.wav", tone(8000, 500, 0.02, {0.7}));
  tones.write("slow.csv", "x\nslow.wav\n");
  TrainedNetwork trained(cpuBackend(), {.run = tones.run.folder});
  const Predictions said = trained.predict({.files = {own, slow}, .keep = 9});
  ASSERT_EQ(said.kept.size(), 2u);
  EXPECT_EQ(classShares(said.outputs[0], said.kept[0].outputs[0].values)[0].name, "0");
  EXPECT_NEAR(said.kept[1].outputs[0].values[0], said.kept[0].outputs[0].values[0], 0.02);
  EXPECT_THAT(said.notes, ElementsAre(AllOf(HasSubstr("slow.wav"), HasSubstr("from 8000 to 16000"))));
  const Predictions listed = trained.predict({.files = {tones.workshop.path() / "slow.csv"}, .keep = 9});
  EXPECT_NEAR(listed.kept.at(0).outputs[0].values[0], said.kept[1].outputs[0].values[0], 1e-5);
  EXPECT_THAT(listed.notes, ElementsAre(AllOf(HasSubstr("slow.csv"), HasSubstr("16000"), HasSubstr("8000"))));
}

TEST(FilesToPredict, OneBadFileIsToldAndTheOthersArePredicted) {
  const Tones tones;
  const Files files{tones.write("a.wav", tone(16000, 500, 0.02)),
                    tones.write("both.wav", tone(16000, 1000, 0.02, {0.4, 1})),
                    tones.write("long.wav", tone(16000, 500, 0.05)),
                    tones.write("broken.wav", "RIFF, but nothing else"),
                    tones.workshop.path() / "gone.wav",
                    tones.write("b.wav", tone(16000, 1000, 0.02))};
  TrainedNetwork trained(cpuBackend(), {.run = tones.run.folder});
  const auto out = tones.workshop.path() / "said.csv";
  const Predictions said = trained.predict({.files = files, .out = out, .keep = 9});
  ASSERT_EQ(said.kept.size(), 3u);
  EXPECT_EQ(said.kept[1].source, files[1].string());
  EXPECT_THAT(said.notes, ElementsAre(AllOf(HasSubstr("both.wav"), HasSubstr("2 channels are mixed down"))));
  EXPECT_EQ(classShares(said.outputs[0], said.kept[1].outputs[0].values)[0].name, "1");
  ASSERT_EQ(said.refused.size(), 3u);
  EXPECT_EQ(said.refused[0].source, files[2].string());
  EXPECT_THAT(said.refused[0].reason, AllOf(HasSubstr("800 steps"), HasSubstr("320")));
  EXPECT_THAT(said.refused[1].source, HasSubstr("broken.wav"));
  EXPECT_THAT(said.refused[2].reason, HasSubstr("gone.wav"));
  for (const RefusedSample& each : said.refused) EXPECT_THAT(each.reason, testing::Not(HasSubstr("files.csv")));
  const std::string text = readFile(out);
  EXPECT_THAT(text, AllOf(HasSubstr(files[0].string()), HasSubstr(files[1].string()), HasSubstr(files[5].string())))
      << "the files as they were named";
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);
  const Predictions read = predictionsFromJson(Json::parse(toJson(said).dump()));
  EXPECT_EQ(toJson(read), toJson(said));
  try {
    trained.predict({.files = {files[3], files[4]}});
    FAIL() << "neither is a sample";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::badData);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("broken.wav"), HasSubstr("gone.wav")));
  }
}

TEST(FilesToPredict, PicturesComeToTheChannelsOfTheRun) {
  const Workshop workshop("predict-channels");
  const auto picture = [&](const std::string& name, std::vector<int> channels, int side = 3) {
    std::vector<std::byte> pixels;
    for (const int value : channels)
      for (int i = 0; i < side * side; ++i) pixels.push_back(std::byte(value));
    writePng(workshop.path() / name, pixels, {static_cast<std::int64_t>(channels.size()), side, side});
    return workshop.path() / name;
  };
  const auto train = [&](int channels) {
    std::string index = "x:image,y:label\n";
    for (int i = 0; i < 12; ++i) {
      const std::string name = fmt::format("{}-{}.png", channels, i);
      picture(name, std::vector<int>(static_cast<std::size_t>(channels), i % 2 ? 250 - i : i));
      index += fmt::format("{},{}\n", name, i % 2);
    }
    workshop.write("train.csv", index);
    Json project = perceptron(false);
    project["networks"]["main"]["nodes"][0]["shape"] = {channels, 3, 3};
    project["datasets"].erase("validation");
    project["datasets"]["training"]["prepare"] = Json::parse(R"([{"step": "Scale", "by": 0.00392156862745098}])");
    return workshop.train(project, fmt::format("run{}", channels));
  };
  const auto rgb = picture("rgb.png", {200, 120, 40}), rgba = picture("rgba.png", {200, 120, 40, 7}),
             grey = picture("grey.png", {90}), threefold = picture("threefold.png", {90, 90, 90}),
             large = picture("large.png", {1, 2, 3}, 4);
  const auto coloured = train(3);
  TrainedNetwork trained(cpuBackend(), {.run = coloured.folder});
  const Predictions said = trained.predict({.files = {rgb, rgba, grey, threefold, large}, .keep = 9});
  const auto values = saidOf(said);
  ASSERT_EQ(values.size(), 4u);
  EXPECT_EQ(values[1], values[0]) << "transparency is left out, as the dataset's step Colours does";
  EXPECT_EQ(values[2], values[3]);
  EXPECT_NE(values[0], values[2]);
  EXPECT_THAT(said.notes, testing::UnorderedElementsAre(AllOf(HasSubstr("rgba.png"), HasSubstr("transparency")),
                                                        AllOf(HasSubstr("grey.png"), HasSubstr("RGB"))));
  ASSERT_EQ(said.refused.size(), 1u);
  EXPECT_THAT(said.refused[0].reason, AllOf(HasSubstr("4 x 4"), HasSubstr("bring it to 3 x 3")));
  workshop.write("two.csv", "x\nrgba.png\ngrey.png\n");
  EXPECT_EQ(saidOf(trained.predict({.files = {workshop.path() / "two.csv"}, .keep = 9})),
            (std::vector<std::vector<float>>{values[1], values[2]}));
  workshop.write("one.csv", "x\nrgba.png\n");
  const Predictions one = trained.predict({.files = {workshop.path() / "one.csv"}, .keep = 9});
  EXPECT_EQ(saidOf(one), (std::vector<std::vector<float>>{values[1]}));
  EXPECT_THAT(one.notes, ElementsAre(HasSubstr("4 channels")));
  const auto plain = train(1);
  TrainedNetwork greys(cpuBackend(), {.run = plain.folder});
  const auto luminance = picture("luminance.png", {(200 * 299 + 120 * 587 + 40 * 114) / 1000});
  const auto lit = saidOf(greys.predict({.files = {rgb, rgba, luminance}, .keep = 9}));
  ASSERT_EQ(lit.size(), 3u);
  EXPECT_EQ(lit[0], lit[1]);
  EXPECT_NEAR(lit[0][0], lit[2][0], 0.01);
}

// What a form asks for is what the file has, also where the file is gone; a row shows its own cells and what was put in
// place of one.
TEST(FilesToPredict, RowsAreToldInTheColumnsOfTheirFile) {
  const Workshop workshop("predict-rows");
  std::string text = "id,city,area,sold,price\n";
  const std::vector<std::string> cities{"Bergen", "Oslo", "Troms\u00f8"};
  for (int i = 0; i < 45; ++i)
    text += fmt::format("{},{},{},{}-01-15,{}\n", i, cities[i % 3], i == 7 ? "" : std::to_string(40 + i % 30),
                        2020 + i % 5, 100 + 40 * (i % 3));
  workshop.write("train.csv", text);
  Json project = perceptron(false);
  project["networks"]["main"] = Json::parse(
      R"({"nodes": [{"id": "x", "layer": "Input", "shape": [5]}, {"id": "fc", "layer": "Linear", "outputs": 1},
    {"id": "price", "layer": "Input", "shape": [1]}, {"id": "loss", "layer": "MeanSquaredError"}],
    "edges": [["x", "fc"], ["fc", "loss"], ["price", "loss.target"]]})");
  project["datasets"].erase("validation");
  project["datasets"]["training"]["prepare"] = Json::parse(R"([{"step": "LeaveOut", "variable": "id"},
    {"step": "Fill", "variable": "area"}, {"step": "Standardise", "variable": "area"},
    {"step": "Encode", "variable": "city", "form": "one_hot", "unknown": "own"},
    {"step": "DateParts", "variable": "sold", "parts": ["year"]}, {"step": "Standardise", "variable": "sold"},
    {"step": "Standardise", "variable": "price"}, {"step": "Join", "variable": ["city", "area", "sold"], "into": "x"}])");
  const auto run = workshop.train(project, "run");
  std::filesystem::remove(workshop.path() / "train.csv");
  TrainedNetwork trained(cpuBackend(), {.run = run.folder});
  const auto prepare = trained.run().description().prepared.at("training");
  const std::vector<RawColumn> columns = rawColumnsOf(prepare, "x", 5);
  ASSERT_EQ(columns.size(), 3u);
  EXPECT_EQ(columns[0].name, "city");
  EXPECT_EQ(columns[0].words, cities);
  EXPECT_EQ(columns[1].name, "area");
  EXPECT_TRUE(columns[1].mayBeEmpty && columns[1].mean && columns[1].kind == RawColumn::Kind::number);
  EXPECT_EQ(columns[2].name, "sold");
  EXPECT_EQ(columns[2].kind, RawColumn::Kind::date);
  EXPECT_TRUE(rawColumnsOf(prepare, "x", 4).empty()) << "not a column for each number";
  workshop.write("new.csv", "id,city,sold,area\n7,Oslo,2024-06-15,60\n8,Stavanger,2024-06-15,60\n9,Oslo,2024-06-15,\n");
  const Predictions said = trained.predict({.files = {workshop.path() / "new.csv"}, .keep = 9});
  ASSERT_EQ(said.kept.size(), 3u);
  EXPECT_THAT(said.heads, ElementsAre("id", "city", "sold", "area"));
  EXPECT_THAT(said.kept[1].cells, ElementsAre("8", "Stavanger", "2024-06-15", "60"));
  EXPECT_TRUE(said.kept[0].marks.empty());
  EXPECT_THAT(said.kept[1].marks, ElementsAre(HasSubstr("'Stavanger' is none of the 3 words")));
  EXPECT_THAT(said.kept[2].marks, ElementsAre(testing::StartsWith("area is empty: ")));
  workshop.write("a.png", "");
  writePng(workshop.path() / "a.png", std::vector<std::byte>(9), {1, 3, 3});
  try {
    trained.predict({.files = {workshop.path() / "a.png"}});
    FAIL() << "a picture is no row";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("a.png: "), HasSubstr("rows of a table"), HasSubstr("city, area, sold")));
  }
}

}  // namespace
}  // namespace loom
