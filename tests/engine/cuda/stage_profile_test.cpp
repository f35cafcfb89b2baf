// The profile of a step's stages (tests/gpu/cuda): each is timed once, by itself, and told beside its floor.
#include "tests/gpu/cuda/stage_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/cpu/networks.h"
#include "tests/engine/cuda/fake/fake_device.h"

namespace loom::cuda {
namespace {

TEST(CudaStageProfile, TellsTheLongestBesideTheirFloors) {
  int graphs = 0;
  const auto times =
      std::make_shared<StageTimes>(std::make_shared<fake::FakeDevice>(), [&](Device& device, const Graph& graph) {
        EXPECT_GT(secondsByClock(device, graph), 0);
        return ++graphs == 7 ? 1e-3 : 2e-6;
      });
  const Program program = networks::perceptron(4);
  const auto fill = [](Executable& executable) { networks::fill(executable, networks::kClasses); };
  const std::string text = stageProfile(program, times, *findGpuModel("h100"), DataType::bf16, 3, fill);
  EXPECT_GT(graphs, 10);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4) << text;
  EXPECT_THAT(text, testing::HasSubstr(fmt::format("of {} stages: {:.3f} ms", graphs, 1 + 2e-3 * (graphs - 1))));
  EXPECT_THAT(text, testing::HasSubstr("\n   1000.0 ")) << "the longest comes first";
  EXPECT_THAT(text, testing::HasSubstr(" MB, "));
}

}  // namespace
}  // namespace loom::cuda
