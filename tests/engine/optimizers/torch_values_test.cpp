// The rules that torch.optim has, too, against its values: torch 2.15 in double on the CPU, w = [1, -2, 0.5], gradient
// i at step t sin(0.7 i + 1.3 t) + 0.1, another rate from step 7 on. Here in double, so that every digit counts.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "engine/optimizers/optimizer.h"

namespace loom {
namespace {

using Three = std::array<double, 3>;

struct TorchCase {
  const char* name;
  Json values;
  double rate, later, decay;
  std::array<Three, 3> after;  // steps 1, 6 and 12
};

const std::vector<TorchCase>& torchCases() {
  static const std::vector<TorchCase> all{
      {"Adadelta",
       Json::object(),
       1.0,
       0.5,
       0.0,
       {{{0.99683773631782, -2.0031622621389, 0.49683777918731},
         {0.99464486456547, -2.0050307493817, 0.49495202332686},
         {0.99304754281708, -2.0050174891672, 0.49619222965262}}}},
      {"Adadelta",
       {{"decay", 0.8}, {"epsilon", 0.001}},
       1.0,
       0.5,
       0.05,
       {{{0.92943145268922, -2.0704978402953, 0.42986165840107},
         {0.86289043040319, -2.0809713954683, 0.37226176430819},
         {0.81264826879391, -2.0527345585378, 0.39520373672576}}}},
      {"Adamax",
       Json::object(),
       0.002,
       0.001,
       0.0,
       {{{0.9980000000188, -2.0019999999802, 0.49800000003792},
         {0.99523337938098, -2.0034229642291, 0.49879319272591},
         {0.99433985847808, -2.0041067449997, 0.49846846147409}}}},
      {"Adamax",
       {{"beta1", 0.8}, {"beta2", 0.9}, {"epsilon", 0.01}},
       0.02,
       0.01,
       0.05,
       {{{0.98017800591246, -2.0197824425543, 0.48035563149933},
         {0.95012250319481, -2.0241892886231, 0.48552560656583},
         {0.93846219257615, -2.0255842662898, 0.48040904215708}}}},
      {"NAdam",
       Json::object(),
       0.002,
       0.001,
       0.0,
       {{{0.99788709646316, -2.0021129035358, 0.49788709648335},
         {0.99646709041078, -2.0031063264143, 0.49775519298168},
         {0.99548123309396, -2.0034185077313, 0.49797956599264}}}},
      {"NAdam",
       {{"beta1", 0.8}, {"beta2", 0.9}, {"epsilon", 0.01}, {"momentum_decay", 0.5}},
       0.02,
       0.01,
       0.05,
       {{{0.97819159980478, -2.0217648851149, 0.47838702564671},
         {0.95817756361596, -2.0218467319478, 0.47445371859329},
         {0.94419742893619, -2.0181360729378, 0.47401077467757}}}},
      {"NAdam",
       {{"momentum_decay", 0.0}, {"decoupled", true}},
       0.02,
       0.01,
       0.05,
       {{{0.97787147355289, -2.0191285264364, 0.47837147375486},
         {0.95879177964912, -2.0190343145804, 0.47457966556003},
         {0.94605794511841, -2.0161110698817, 0.47539965371777}}}},
      {"RAdam",
       Json::object(),
       0.001,
       0.0005,
       0.0,
       {{{0.99893644181458, -2.0010092974268, 0.49947262011977},
         {0.99773663917936, -2.0014392434785, 0.49982443224435},
         {0.99770676982845, -2.0014618743332, 0.49981108248666}}}},
      {"RAdam",
       {{"beta1", 0.8}, {"beta2", 0.9}, {"epsilon", 0.01}},
       0.02,
       0.01,
       0.05,
       {{{0.97772883629166, -2.0181859485365, 0.48895240239532},
         {0.95228679337242, -2.0171781788769, 0.4921969092222},
         {0.94502873627564, -2.017904254023, 0.48839149028995}}}},
      {"RAdam",
       {{"decoupled", true}},
       0.02,
       0.01,
       0.05,
       {{{0.97772883629166, -2.0181859485365, 0.48895240239532},
         {0.94893925451543, -2.0166830442634, 0.49352032462207},
         {0.94549921815119, -2.0110927870569, 0.49177476675601}}}},
  };
  return all;
}

TEST(Optimizers, HaveTheValuesOfTorch) {
  for (const TorchCase& one : torchCases()) {
    const OptimizerDefinition& definition = *findOptimizer(one.name);
    const auto rule = definition.make(Values(definition.entry, one.values));
    Three weight{1, -2, 0.5}, gradient{};
    std::array<Three, kMostSlots> slots{};
    std::size_t seen = 0;
    for (int step = 1; step <= 12; ++step) {
      for (int i = 0; i < 3; ++i) gradient[static_cast<std::size_t>(i)] = std::sin(0.7 * i + 1.3 * step) + 0.1;
      rule->update(ReferenceRange{.weight = weight.data(),
                                  .gradient = gradient.data(),
                                  .slots = {slots[0].data(), slots[1].data(), slots[2].data()},
                                  .count = 3},
                   {.learningRate = step < 7 ? one.rate : one.later, .weightDecay = one.decay, .step = step});
      if (step != 1 && step != 6 && step != 12) continue;
      for (std::size_t i = 0; i < 3; ++i)
        EXPECT_NEAR(weight[i], one.after[seen][i], 2e-12) << one.name << one.values << " step " << step << " w" << i;
      ++seen;
    }
  }
}

// torch.optim has no Lion; the reference's worked numbers, which agree with another library's.
TEST(Optimizers, LionFollowsTheWorkedNumbers) {
  const OptimizerDefinition& definition = *findOptimizer("Lion");
  const Json none = Json::object();
  const auto rule = definition.make(Values(definition.entry, none));
  std::array<double, 2> weight{3, 4}, memory{};
  const std::array<std::array<double, 2>, 2> gradients{{{.1, -.2}, {-.3, .2}}},
      weights{{{2.987, 4.006}, {2.994013, 3.991994}}}, memories{{{.001, -.002}, {-.00201, .00002}}};
  for (int step = 0; step < 2; ++step) {
    const auto at = static_cast<std::size_t>(step);
    rule->update(ReferenceRange{.weight = weight.data(),
                                .gradient = gradients[at].data(),
                                .slots = {memory.data(), nullptr, nullptr},
                                .count = 2},
                 {.learningRate = 0.01, .weightDecay = 0.1, .step = step + 1});
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_NEAR(weight[i], weights[at][i], 1e-12);
      EXPECT_NEAR(memory[i], memories[at][i], 1e-15);
    }
  }
}

}  // namespace
}  // namespace loom
