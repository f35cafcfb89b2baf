// Ranges as they are written, what is refused and how, and how a space fits a project.
#include "engine/search/space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/network/project_settings.h"

namespace loom {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::badArgument);
    return error.message();
  }
  return "not refused";
}

std::string refused(const std::string& text) {
  return refusal([&] { parseDimension(text); });
}

Json digits() {
  return Json::parse(readFile(std::filesystem::path(GRADLOOM_SOURCE_DIR) / "samples/digits/digits.loom"));
}

Space fitted(const std::vector<std::string>& over) {
  Space space;
  for (const std::string& each : over) space.push_back(parseDimension(each));
  return checkedSpace(digits(), {}, space);
}

std::string unfit(const std::string& over) {
  return refusal([&] { fitted({over}); });
}

TEST(SearchSpace, IsReadAndWrittenBackTheSame) {
  for (const char* text :
       {"optimizer.learning_rate=log:0.0001..1", "batch=16,32,64", "conv1.channels=whole:4..32", "momentum=0..0.99/5",
        "width=log:whole:8..512/4", "schedule.name=Cosine,Constant", "conv1.kernel=[3,3],[5,5]", "x=-2.5..-1"})
    EXPECT_EQ(toText(parseDimension(text)), text);
  const Dimension rate = parseDimension(" rate = log: 1e-4 .. 1 ");
  EXPECT_EQ(rate.key, "rate");
  EXPECT_TRUE(rate.log);
  EXPECT_DOUBLE_EQ(rate.low, 1e-4);
  EXPECT_DOUBLE_EQ(rate.high, 1);
}

TEST(SearchSpace, RefusesByNameWithARemedy) {
  EXPECT_THAT(refused("rate"),
              AllOf(HasSubstr("--over rate"), HasSubstr("no key and no '='"), HasSubstr("KEY=LOW..HIGH")));
  EXPECT_THAT(refused("rate="), HasSubstr("no values"));
  EXPECT_THAT(refused("rate=1..0.1"), AllOf(HasSubstr("goes from 1 down to 0.1"), HasSubstr("write 0.1..1")));
  EXPECT_THAT(refused("rate=log:0..1"), HasSubstr("begins above 0, not at 0"));
  EXPECT_THAT(refused("rate=1..1"), AllOf(HasSubstr("both ends are 1"), HasSubstr("--set")));
  EXPECT_THAT(refused("rate=a..1"), HasSubstr("'a' is no number"));
  EXPECT_THAT(refused("rate=nan..1"), HasSubstr("'nan' is no number"));
  EXPECT_THAT(refused("rate=0..inf"), HasSubstr("'inf' is no number"));
  EXPECT_THAT(refused("rate=0..1/1"), HasSubstr("2 to 10000"));
  EXPECT_THAT(refused("n=whole:1.2..1.8"), HasSubstr("no whole number from 1.2 to 1.8"));
  EXPECT_THAT(refused("batch=16,,32"), HasSubstr("empty"));
  EXPECT_THAT(refused("batch=16,32,16"), HasSubstr("'16' is there twice"));
  EXPECT_THAT(refused("rate=log:0.1,1"), HasSubstr("range with two dots"));
}

TEST(SearchSpace, PlacesAndValuesMeetAtTheEnds) {
  const Dimension rate = parseDimension("r=log:1e-4..1");
  EXPECT_EQ(valueAt(rate, 0), 1e-4);
  EXPECT_EQ(valueAt(rate, 1), 1.0);
  EXPECT_EQ(valueAt(rate, 0.5), 0.01);
  EXPECT_NEAR(placeOf(rate, 0.01), 0.5, 1e-12);
  const Dimension whole = parseDimension("n=whole:1.5..4.5");
  EXPECT_EQ(valueAt(whole, 0), 2);
  EXPECT_EQ(valueAt(whole, 1), 4);
  EXPECT_EQ(countOf(whole), 3);
  const Dimension list = parseDimension("n=16,32,64");
  EXPECT_EQ(valueAt(list, 0.49), 32);
  EXPECT_EQ(placeOf(list, 64), 1.0);
  EXPECT_EQ(countOf(Space{whole, list}), 9);
  EXPECT_EQ(countOf(Space{whole, rate}), 0) << "without number";
}

TEST(SearchSpace, FitsAProject) {
  const Space space = fitted({"optimizer.learning_rate=log:1e-4..1", "batch=log:16..256", "conv1.channels=4..32",
                              "networks.main.nodes.fc1.outputs=16..256", "relu1.layer=ReLU,GELU"});
  EXPECT_FALSE(space[0].whole);
  EXPECT_TRUE(space[1].whole) << "the catalogue says that a batch is a whole number";
  EXPECT_TRUE(space[2].whole);
  EXPECT_TRUE(space[3].whole);
  EXPECT_THAT(settingsOf(space, {0.01, 32, 8, 64, "GELU"}),
              ElementsAre("optimizer.learning_rate=0.01", "batch=32", "conv1.channels=8",
                          "networks.main.nodes.fc1.outputs=64", "relu1.layer=\"GELU\""));
}

TEST(SearchSpace, SaysWhatDoesNotFitAndWhatIsMeant) {
  EXPECT_THAT(unfit("optimizer.lerning_rate=log:1e-4..1"), HasSubstr("did you mean 'optimizer.learning_rate'?"));
  EXPECT_THAT(unfit("lr=log:1e-4..1"), HasSubstr("did you mean 'optimizer.learning_rate'?"));
  EXPECT_THAT(unfit("conv1.chanels=4..32"), HasSubstr("did you mean 'conv1.channels'?"));
  EXPECT_THAT(unfit("conv9.channels=4..32"), HasSubstr("did you mean"));
  EXPECT_THAT(unfit("batch=0..64"), AllOf(HasSubstr("--over batch="), HasSubstr("the value 0 cannot be")));
  EXPECT_THAT(unfit("batch=1.1..1.9"), HasSubstr("not two of them"));
  EXPECT_THAT(unfit("optimizer.name=Adam,Adamm"), HasSubstr("the value \"Adamm\" cannot be"));
  EXPECT_THAT(unfit("optimizer.name=1..2"), HasSubstr("is a choice and has no range"));
  EXPECT_THAT(refusal([] {
                fitted({"batch=1..8", "training.batch=8..16"});
              }),
              HasSubstr("training.batch is there twice"));
  EXPECT_THAT(refusal([] { fitted({}); }), HasSubstr("--over KEY=RANGE"));
}

TEST(SearchSpace, ANodeOfTwoDrawingsIsAskedWhich) {
  Json project = digits();
  project["units"]["block"]["nodes"] = Json::array({{{"id", "conv1"}, {"layer", "Convolution"}}});
  const std::string said = refusal([&] { applySettings(project, {"conv1.channels=4"}); });
  EXPECT_THAT(said, AllOf(HasSubstr("both have a node 'conv1'"), HasSubstr("networks.main.nodes.conv1.channels")));
  applySettings(project, {"networks.main.nodes.conv1.channels=4"});
  EXPECT_EQ(project["networks"]["main"]["nodes"][1]["channels"], 4);
  for (const Searchable& each : searchableOf(project))
    if (each.key == "networks.main.nodes.conv1.channels") {
      EXPECT_EQ(each.shorter, each.key);
    }
}

TEST(SearchSpace, AFirstRangeLiesAroundWhatHolds) {
  std::map<std::string, Searchable> known;
  for (Searchable& each : searchableOf(digits())) known[each.key] = each;
  EXPECT_EQ(toText(usualRange(known.at("optimizer.learning_rate"))), "optimizer.learning_rate=log:0.0002..0.02");
  EXPECT_EQ(toText(usualRange(known.at("networks.main.nodes.conv1.channels"))), "conv1.channels=log:whole:2..32");
  EXPECT_THAT(toText(usualRange(known.at("schedule.name"))), HasSubstr("Cosine"));
}

TEST(SearchSpace, KnowsWhatMayBeSearched) {
  std::map<std::string, Searchable> known;
  for (Searchable& each : searchableOf(digits())) known[each.key] = each;
  EXPECT_EQ(known.at("optimizer.learning_rate").value, 0.002);
  EXPECT_TRUE(known.at("batch").whole);
  EXPECT_EQ(known.at("networks.main.nodes.conv1.channels").value, 8);
  EXPECT_EQ(known.at("networks.main.nodes.conv1.channels").label.substr(0, 6), "conv1:");
  EXPECT_THAT(known.at("schedule.name").choices, testing::Contains("Cosine"));
}

}  // namespace
}  // namespace loom
