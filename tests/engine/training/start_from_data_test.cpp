// "Start from data": what it makes of a stranger's files trains, whatever they hold, and predicts another file.
#include "engine/network/start_from_data.h"

#include <gmock/gmock.h>

#include <cmath>

#include "engine/base/files.h"
#include "engine/data/columns/column_step.h"
#include "engine/data/write_png.h"
#include "engine/network/project_arguments.h"
#include "tests/engine/training/fixture.h"

namespace loom {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

// Dates, two columns of words, holes; `rooms` are few whole numbers; `price` and `kind` follow from the rest.
std::string houses(int rows, bool target = true) {
  std::string text =
      target ? "id,sold,town,heating,area,rooms,kind,price\n" : "price,area,town,heating,rooms,sold,id\n";
  const char* const towns[] = {"Ulm", "Bern", "Chur", "Genf"};
  const char* const heats[] = {"gas", "wood", "\"heat, pump\""};
  for (int i = 0; i < rows; ++i) {
    const int area = 40 + i * 37 % 160, rooms = 1 + area / 45, town = i * 7 % 4, heat = i * 5 % 3;
    const std::string shown = i % 23 == 4 ? "" : std::to_string(area);
    const std::string heated = i % 31 == 6 ? "" : heats[heat];
    const std::string when = fmt::format("{:02}.{:02}.2024", 1 + i % 28, 1 + i % 12);
    const int price = 3000 * area + 40000 * town + 900 * (i % 12);
    const char* const kind = area > 140 ? "villa" : town == 1 ? "flat, old" : "house";
    if (target)
      text += fmt::format("h{},{},{},{},{},{},\"{}\",{}\n", i, when, towns[town], heated, shown, rooms, kind, price);
    else
      text += fmt::format("{},{},{},{},{},{},h{}\n", price, shown, towns[town], heated, rooms, when, i);
  }
  return text;
}

Project projectOf(const char* csv) {
  Project project;
  project.networks.push_back({.name = "main"});
  project.datasets.push_back({.name = "training", .csv = csv, .prepare = {}});
  project.training.updates.push_back(defaultUpdate());
  return project;
}

class StartFromData : public testing::Test {
 protected:
  Project started(const Project& project, const StartChoice& choice) const {
    const DatasetSpec& spec = project.datasets.front();
    const StartFacts facts = factsToStart(spec, workshop.path() / spec.csv);
    return startFromData(project, "main", "training", facts, choice);
  }
  static Json jsonOf(const Project& project) { return Json::parse(writeProject(project)); }
  // Sound by the check before a run, and it learns: the loss falls to `share` of what it began with.
  Workshop::Run trained(const Project& project, const char* name, double share) const {
    checkedProject(jsonOf(project), name, {});
    const auto run = workshop.train(jsonOf(project), name);
    const std::vector<double> losses = run.series("validation", "loss");
    EXPECT_GE(losses.size(), 2u);
    EXPECT_LT(losses.empty() ? HUGE_VAL : losses.back(), share * run.series("step", "loss").front()) << name;
    return run;
  }
  const Workshop workshop{"start-from-data"};
};

TEST_F(StartFromData, ClassesOfATableWithDatesWordsAndHoles) {
  workshop.write("houses.csv", houses(800));
  const Project project = started(projectOf("houses.csv"), {.target = "kind"});
  const Network& network = *project.network("main");
  std::vector<std::string> inputs;
  for (const Node& node : network.nodes)
    if (node.layer == "Input") inputs.push_back(node.id);
  EXPECT_THAT(inputs, ElementsAre("x", "kind")) << "one Input of all number columns";
  EXPECT_EQ(network.find("kind")->values["type"], "label");
  EXPECT_NE(network.find("accuracy"), nullptr);
  EXPECT_EQ(project.dataset("training")->extra["hold_by"], "kind");
  EXPECT_EQ(project.training.validation, "validation");
  for (const Json& step : project.dataset("training")->prepare)
    EXPECT_TRUE(step["step"] != "Standardise" || step["variable"].dump().find("kind") == std::string::npos) << step;
  const auto run = trained(project, "classes", 0.5);
  EXPECT_GT(run.series("validation", "accuracy").back(), 0.9);
  workshop.write("new.csv", houses(40, false));
  TrainedNetwork network2(cpuBackend(), {.run = run.folder});
  const auto said = network2.predict({.files = {workshop.path() / "new.csv"}, .out = workshop.path() / "out.csv"});
  EXPECT_THAT(said.columns, ElementsAre("kind'_flat, old", "kind'_house", "kind'_villa", "kind'_class"));
  const std::string out = readFile(workshop.path() / "out.csv");
  EXPECT_THAT(out, HasSubstr(",\"flat, old\"\n")) << "a word with the separator stands in quotes";
  EXPECT_THAT(out, HasSubstr(",house\n"));
}

// A hole where the training part had none: all columns and rows are named, and what can be done. With a Fill it is no
// fault.
TEST_F(StartFromData, HolesThatTrainingNeverSawAreNamedWithWhatToDo) {
  std::string text = "a,b,town,price\n";
  for (int i = 0; i < 60; ++i)
    text += fmt::format("{},{},{},{}\n", i % 9, i * 7 % 31, i % 2 ? "Ulm" : "Bern", i % 9 * 3);
  workshop.write("whole.csv", text);
  workshop.write("holes.csv", "a,b,town\n1,2,Ulm\n,5,Bern\n3,4,\n6,7,Ulm\n,8,Bern\n");
  Project project = started(projectOf("whole.csv"), {});
  project.training.settings["epochs"] = 1;
  const auto said = [&](const char* name) -> std::string {
    const auto run = workshop.train(jsonOf(project), name);
    TrainedNetwork network(cpuBackend(), {.run = run.folder});
    try {
      return fmt::format("{} rows", network.predict({.files = {workshop.path() / "holes.csv"}, .keep = 9}).kept.size());
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_THAT(said("holes"),
              testing::AllOf(HasSubstr("holes.csv: a is empty in 2 rows (lines 3, 6)"),
                             HasSubstr("town is empty in 1 row (line 4)"), HasSubstr("add the step Fill for a, town")));
  std::vector<Json>& prepare = project.datasets.front().prepare;
  const Json town = {{"step", "Fill"}, {"variable", {"town"}}, {"with", "most_frequent"}};
  const Json number = {{"step", "Fill"}, {"variable", {"a"}}};
  prepare.insert(prepare.begin(), {town, number});
  EXPECT_EQ(said("filled"), "5 rows");
}

TEST_F(StartFromData, ANumberIsPredictedInItsUnit) {
  workshop.write("houses.csv", houses(800));
  const Project project = started(projectOf("houses.csv"), {});  // the last column is the likeliest
  EXPECT_EQ(project.network("main")->find("loss")->layer, "MeanSquaredError");
  const auto run = trained(project, "number", 0.1);
  TrainedNetwork network(cpuBackend(), {.run = run.folder});
  const auto said = network.predict({.files = {workshop.path() / "houses.csv"}, .keep = 40});
  double off = 0;
  for (const PredictedSample& sample : said.kept) {
    const int i = static_cast<int>(sample.sample);
    const double price = 3000 * (40 + i * 37 % 160) + 40000 * (i * 7 % 4) + 900 * (i % 12);
    off += i % 23 == 4 ? 0 : std::abs(sample.outputs[0].values[0] - price) / 40;
  }
  EXPECT_LT(off, 30'000) << "of 120,000 to 700,000";
}

// A file to predict is read by the names and the signs that training saw, or refused with what is other.
TEST_F(StartFromData, ColumnsOfOneNameAndPercentsMeanTheSameInAnotherFile) {
  const auto table = [](const char* header, const char* sign) {
    std::string text = std::string(header) + "\n";
    for (int i = 0; i < 60; ++i) text += fmt::format("{},{}{},{},{}\n", i % 9, i * 7 % 31, sign, i % 5, i * 7 % 31 * 2);
    return text;
  };
  workshop.write("t.csv", table("rate,share,rate,price", " %"));
  Project project = started(projectOf("t.csv"), {});
  EXPECT_THAT(Json(project.dataset("training")->prepare).dump(), HasSubstr(R"(["rate_1","share","rate_2"])"));
  project.training.settings["epochs"] = 1;
  const auto run = workshop.train(jsonOf(project), "percents");
  TrainedNetwork network(cpuBackend(), {.run = run.folder});
  const auto said = [&](const std::string& text) -> std::string {
    workshop.write("new.csv", text);
    try {
      const auto kept = network.predict({.files = {workshop.path() / "new.csv"}, .keep = 1}).kept;
      return fmt::format("{:.4f}", kept.at(0).outputs[0].values[0]);
    } catch (const Error& error) {
      return error.what();
    }
  };
  const std::string right = said("rate,share,rate\n1,20 %,3\n");
  EXPECT_EQ(said("share,rate,more,rate\n20%,1,9,3\n"), right) << "by name, and of one name in their order";
  EXPECT_NE(said("share,rate,more,rate\n20%,3,9,1\n"), right);
  EXPECT_EQ(said("share,rate_2,rate_1\n20%,3,1\n"), right);
  EXPECT_THAT(said("rate,share\n1,20 %\n"), HasSubstr("lacks the columns rate_1, rate_2"));
  EXPECT_THAT(said("rate,share,rate\n1,0.2,3\n"), HasSubstr("column share holds no percents"));
  // So is a validation set.
  workshop.write("held.csv", table("rate,share,rate,price", ""));
  project.datasets.push_back({.name = "held", .csv = "held.csv", .prepare = {}});
  project.training.validation = "held";
  try {
    workshop.train(jsonOf(project), "mixed");
    ADD_FAILURE() << "the numbers of held.csv mean something else";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("held.csv: column share holds no percents"));
  }
}

TEST_F(StartFromData, FewWholeNumbersAreWhatThePersonSays) {
  workshop.write("houses.csv", houses(200));
  const Project classes = started(projectOf("houses.csv"), {.target = "rooms", .as = TargetKind::classes});
  const Project number = started(projectOf("houses.csv"), {.target = "rooms", .as = TargetKind::number});
  EXPECT_EQ(classes.network("main")->find("loss")->layer, "SoftmaxCrossEntropy");
  EXPECT_EQ(number.network("main")->find("loss")->layer, "MeanSquaredError");
  checkedProject(jsonOf(classes), "classes", {});
  checkedProject(jsonOf(number), "number", {});
}

TEST_F(StartFromData, AStartOverAnotherColumnLeavesNothingOfTheFirst) {
  workshop.write("houses.csv", houses(200));
  Project again = started(projectOf("houses.csv"), {.target = "kind"});
  const std::vector<Json> fresh = started(projectOf("houses.csv"), {.target = "price"}).dataset("training")->prepare;
  again.networks.front() = {.name = "main"};
  EXPECT_EQ(started(again, {.target = "price"}).dataset("training")->prepare, fresh);
}

// What a person did on the Data page stays, comes first, and is not done a second time.
TEST_F(StartFromData, OwnStepsStay) {
  workshop.write("houses.csv", houses(400));
  Project project = projectOf("houses.csv");
  project.datasets.front().prepare = {Json{{"step", "LeaveOut"}, {"variable", {"heating"}}},
                                      Json{{"step", "Fill"}, {"variable", {"area"}}, {"with", "mean"}},
                                      Json{{"step", "RobustScale"}, {"variable", {"area", "price"}}},
                                      Json{{"step", "Rename"}, {"variable", {"town"}}, {"to", "place"}}};
  const Project made = started(project, {.target = "kind"});
  const std::vector<Json>& prepare = made.dataset("training")->prepare;
  EXPECT_EQ(prepare[0], project.datasets.front().prepare[0]);
  EXPECT_EQ(prepare[1], project.datasets.front().prepare[1]);
  std::vector<std::string> kinds;
  for (std::size_t i = 4; i < prepare.size(); ++i) {
    kinds.push_back(prepare[i]["step"]);
    EXPECT_THAT(prepare[i]["variable"], testing::Not(Contains("heating"))) << prepare[i];
    EXPECT_TRUE(kinds.back() == "Join" || prepare[i]["variable"].dump().find("area") == std::string::npos)
        << prepare[i];
  }
  EXPECT_THAT(kinds, ElementsAre("LeaveOut", "Encode", "DateParts", "Standardise", "Encode", "Join"));
  trained(made, "own", 0.7);
}

TEST_F(StartFromData, DatesThatCanBeReadInTwoWaysTakeWhatWasAnswered) {
  std::string text = "when,y\n";
  for (int i = 0; i < 60; ++i) text += fmt::format("{}/{}/2026,{}\n", 1 + i % 12, 1 + i % 11, i % 12);
  workshop.write("t.csv", text);
  const Project made =
      started(projectOf("t.csv"), {.target = "y", .as = TargetKind::number, .dateOrders = {{"when", "mdy"}}});
  EXPECT_THAT(Json(made.dataset("training")->prepare).dump(), HasSubstr(R"("order":"mdy")"));
  trained(made, "dates", 1.0);
}

TEST_F(StartFromData, PicturesOfTwoSizesAndColours) {
  std::string text = "file,shown\n";
  for (int i = 0; i < 60; ++i) {
    const std::int64_t side = i % 3 ? 12 : 20, channels = i % 5 ? 1 : 3;
    std::vector<std::byte> pixels(static_cast<std::size_t>(channels * side * side), std::byte(10 + i % 4));
    for (std::int64_t c = 0; c < channels; ++c)
      for (std::int64_t k = 2; k < side - 2; ++k)
        pixels[static_cast<std::size_t>(c * side * side + (i % 2 ? k * side + side / 2 : side / 2 * side + k))] =
            std::byte{240};
    const std::string name = fmt::format("{}.png", i);
    writePng(workshop.path() / name, pixels, {channels, side, side});
    text += fmt::format("{},{}\n", name, i % 2 ? "up" : "across");
  }
  workshop.write("pictures.csv", text);
  const Project made = started(projectOf("pictures.csv"), {});
  EXPECT_EQ(made.network("main")->find("file")->values["shape"], Json({3, 12, 12}));
  EXPECT_NE(made.network("main")->find("conv"), nullptr);
  const auto run = trained(made, "pictures", 0.5);
  EXPECT_GT(run.series("validation", "accuracy").back(), 0.9);
}

// A tone of so many hertz, of 16 bits.
std::string toneOf(double pitch, int rate, int samples) {
  std::string wave = "RIFF----WAVEfmt ";
  const auto put = [&](std::uint32_t value, int bytes) {
    for (int b = 0; b < bytes; ++b) wave += static_cast<char>(value >> (8 * b));
  };
  put(16, 4), put(1, 2), put(1, 2), put(static_cast<std::uint32_t>(rate), 4);
  put(static_cast<std::uint32_t>(2 * rate), 4), put(2, 2), put(16, 2);
  wave += "data";
  put(static_cast<std::uint32_t>(2 * samples), 4);
  for (int k = 0; k < samples; ++k)
    put(static_cast<std::uint16_t>(static_cast<std::int16_t>(20000 * std::sin(6.283185 * pitch * k / rate))), 2);
  return wave;
}

TEST_F(StartFromData, SoundsOfUnequalLength) {
  std::string text = "clip,pitch\n";
  for (int i = 0; i < 40; ++i) {
    const std::string name = fmt::format("{}.wav", i);
    workshop.write(name, toneOf(i % 2 ? 1146 : 255, 8000, 3000 + 100 * (i % 7)));
    text += fmt::format("{},{}\n", name, i % 2 ? "high" : "low");
  }
  workshop.write("sounds.csv", text);
  const auto run = trained(started(projectOf("sounds.csv"), {}), "sounds", 0.8);
  EXPECT_GT(run.series("validation", "accuracy").back(), 0.8);
}

// At their own rates a high tone of the one looks like a low one of the other.
TEST_F(StartFromData, SoundsOfTwoRates) {
  std::string text = "clip,pitch\n";
  for (int i = 0; i < 40; ++i) {
    const std::string name = fmt::format("{}.wav", i);
    const int rate = i % 4 < 3 ? 8000 : 32000;
    workshop.write(name, toneOf(i % 2 ? 1000 : 250, rate, rate * 3 / 8));
    text += fmt::format("{},{}\n", name, i % 2 ? "high" : "low");
  }
  workshop.write("sounds.csv", text);
  const Project project = started(projectOf("sounds.csv"), {});
  EXPECT_EQ(sampleStepsOf(project.dataset("training")->prepare).at(0),
            Json({{"step", "Resample"}, {"rate", 8000}, {"variable", {"clip"}}}));
  const auto run = trained(project, "rates", 0.8);
  EXPECT_GT(run.series("validation", "accuracy").back(), 0.8);
  // A sound to predict is brought there too.
  workshop.write("same.wav", toneOf(1000, 8000, 3000));
  workshop.write("other.wav", toneOf(1000, 44100, 44100 * 3 / 8));
  TrainedNetwork network(cpuBackend(), {.run = run.folder});
  const auto said =
      network.predict({.files = {workshop.path() / "same.wav", workshop.path() / "other.wav"}, .keep = 2});
  ASSERT_EQ(said.kept.size(), 2u);
  for (std::size_t c = 0; c < 2; ++c)
    EXPECT_NEAR(said.kept[0].outputs[0].values[c], said.kept[1].outputs[0].values[c], 0.02);
}

TEST_F(StartFromData, AVectorOfTheFileStaysOne) {
  workshop.write("v.csv", clusters(90, 3));
  const Project made = started(projectOf("v.csv"), {});
  EXPECT_EQ(made.network("main")->find("x")->values["shape"], Json({3}));
  EXPECT_EQ(Json(made.dataset("training")->prepare).dump(), R"([{"step":"Normalise","variable":["x"]}])");
  const std::vector<double> losses = workshop.train(jsonOf(made), "vector").series("step", "loss");
  EXPECT_LT(losses.back(), 0.7 * losses.front());
}

TEST_F(StartFromData, WhereNothingCanBePredictedItIsSaid) {
  workshop.write("one.csv", "a\n1\n2.5\n3\n4\n");
  try {
    started(projectOf("one.csv"), {});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("no column to predict 'a' from"));
  }
}

// The check before a run: classes that a step scales are refused with the remedy, in every way of writing it.
TEST_F(StartFromData, AScaledLabelIsRefusedWithItsRemedy) {
  workshop.write("houses.csv", houses(120));
  Project project = started(projectOf("houses.csv"), {.target = "rooms", .as = TargetKind::classes});
  const auto refused = [&](std::vector<Json> behind) {
    Project scaled = project;
    std::vector<Json>& prepare = scaled.datasets.front().prepare;
    prepare.insert(prepare.end(), behind.begin(), behind.end());
    for (const Problem& problem : checkProject(scaled))
      if (problem.field == "datasets.training.prepare") return problem;
    return Problem{};
  };
  for (const Json& step :
       {Json{{"step", "Standardise"}, {"variable", {"rooms"}}},
        Json{{"step", "Normalise"}, {"variable", {"x", "rooms"}}}, Json{{"step", "Scale"}, {"variable", "rooms"}}}) {
    const Problem problem = refused({step});
    EXPECT_THAT(problem.message, HasSubstr("rooms")) << step;
    EXPECT_THAT(problem.message, HasSubstr("whole numbers 0, 1, 2")) << step;
    const std::size_t left = step["variable"].size() == 2 ? 1 : 0;
    EXPECT_EQ(problem.remedy.value.size(), project.datasets.front().prepare.size() + left) << step;
  }
  EXPECT_TRUE(refused({Json{{"step", "Normalise"}}}).message.empty()) << "without names it means no single number";
  try {
    Project scaled = project;
    scaled.datasets.front().prepare.push_back({{"step", "Standardise"}, {"variable", {"rooms"}}});
    checkedProject(jsonOf(scaled), "p.loom", {});
    ADD_FAILURE() << "the run would begin";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("leave rooms out of the step"));
  }
}

TEST_F(StartFromData, SettingsOfTheDefaultOptimizerCanBeGiven) {
  workshop.write("houses.csv", houses(60));
  Json json = jsonOf(started(projectOf("houses.csv"), {}));
  json["training"].erase("optimizer");
  const LoadedProject loaded = checkedProject(json, "p.loom", {"optimizer.learning_rate=0.5"});
  EXPECT_EQ(loaded.project.training.updates.front().optimizer, (Json{{"name", "Adam"}, {"learning_rate", 0.5}}));
  const LoadedProject other = checkedProject(json, "p.loom", {"optimizer.name=SGD", "optimizer.learning_rate=0.5"});
  EXPECT_EQ(other.project.training.updates.front().optimizer, (Json{{"name", "SGD"}, {"learning_rate", 0.5}}));
}

}  // namespace
}  // namespace loom
