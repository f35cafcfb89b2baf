#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/catalogue/names.h"

namespace loom {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> found(std::string_view query) {
  static const std::vector<Entry> entries = [] {
    std::vector<Entry> all(6);
    all[0].id = "Linear", all[0].aliases = {"Dense", "Affine"}, all[0].summary = "A weighted sum";
    all[1].id = "BatchNormalization", all[1].summary = "Mean 0 over the batch";
    all[2].id = "LayerNormalization", all[2].summary = "Mean 0 over a sample";
    all[3].id = "GlobalAveragePooling", all[3].summary = "Mean of each channel";
    all[4].id = "LeakyReLU", all[4].summary = "ReLU with a slope";
    all[5].id = "ReLU", all[5].aliases = {"Rectifier"}, all[5].summary = "max(x, 0)";
    for (Entry& entry : all) entry.label = entry.id;
    return all;
  }();
  std::vector<const Entry*> pointers;
  for (const Entry& entry : entries) pointers.push_back(&entry);
  std::vector<std::string> ids;
  for (const Entry* entry : search(pointers, query)) ids.push_back(entry->id);
  return ids;
}

TEST(Search, FindsByAliasBeginningInitialsAndMiddle) {
  EXPECT_THAT(found("dense"), ElementsAre("Linear"));
  EXPECT_THAT(found("bn"), ElementsAre("BatchNormalization"));
  EXPECT_THAT(found("norm"), ElementsAre("BatchNormalization", "LayerNormalization"));
  EXPECT_THAT(found("global average"), ElementsAre("GlobalAveragePooling"));
  EXPECT_THAT(found("slope"), ElementsAre("LeakyReLU"));
}

TEST(Search, AWordOfTheNameComesBeforeAnotherName) {
  Entry attention{.id = "MultiHeadAttention", .label = "MultiHeadAttention"},
      loss{.id = "SoftmaxCrossEntropy", .label = "SoftmaxCrossEntropy"};
  attention.aliases = {"CrossAttention"};
  EXPECT_THAT(search({&attention, &loss}, "cross"), ElementsAre(&loss, &attention));
}

TEST(Search, FindsByTheNameOfARelative) {
  Entry lars{.id = "LARS"};
  lars.relatives = {{"LARC", "is another rule"}};
  EXPECT_EQ(search({&lars}, "larc").size(), 1u);
  EXPECT_FALSE(hasAlias(lars, "LARC"));
  EXPECT_EQ(adviceOf(lars, "larc"), "LARC is another rule");
  EXPECT_EQ(adviceOf(lars, "LARS"), "");
}

TEST(Search, PutsTheExactNameFirst) {
  EXPECT_THAT(found("relu"), ElementsAre("ReLU", "LeakyReLU"));
  EXPECT_THAT(found("mean"), ElementsAre("BatchNormalization", "LayerNormalization", "GlobalAveragePooling"));
}

TEST(Search, ForgivesASlipAndAnswersAllForNothing) {
  EXPECT_THAT(found("batchnrom"), ElementsAre("BatchNormalization"));
  EXPECT_EQ(found("").size(), 6u);
  EXPECT_EQ(found("  ").size(), 6u);
  EXPECT_THAT(found("qqqq"), IsEmpty());
}

TEST(Nearest, FindsSlipsAndNothingElse) {
  const std::vector<std::string> known{"Convolution", "Deconvolution", "Linear", "x", "y"};
  EXPECT_EQ(nearest("Convolutoin", known), "Convolution");
  EXPECT_EQ(nearest("convolution", known), "Convolution");
  EXPECT_EQ(nearest("Liner", known), "Linear");
  EXPECT_EQ(nearest("LSTM", known), "");
  EXPECT_EQ(nearest("z", known), "");
  EXPECT_EQ(nearest("X", known), "x");
  EXPECT_EQ(nearest("", known), "");
  EXPECT_EQ(nearest(std::string(100000, 'a'), known), "");
}

TEST(Nearest, KeyIsFoundByWhatPeopleMakeOfIt) {
  const std::vector<std::string> known{
      "epochs", "batch", "seed", "optimizer.learning_rate", "optimizer.weight_decay", "warmup.epochs"};
  EXPECT_EQ(nearestKey("epoch", known), "epochs");
  EXPECT_EQ(nearestKey("learning_rate", known), "optimizer.learning_rate");
  EXPECT_EQ(nearestKey("learning-rate", known), "optimizer.learning_rate");
  EXPECT_EQ(nearestKey("lr", known), "optimizer.learning_rate");
  EXPECT_EQ(nearestKey("decay", known), "optimizer.weight_decay");
  EXPECT_EQ(nearestKey("batch_size", known), "batch");
  EXPECT_EQ(nearestKey("batchsize", known), "batch");
  EXPECT_EQ(nearestKey("frobnicate", known), "");
  EXPECT_EQ(nearestKey(".", known), "");
  EXPECT_EQ(nearestKey(std::string(100000, 'a'), known), "");
}

}  // namespace
}  // namespace loom
