// What is kept of a case that fails on a GPU that is lent for minutes (tests/gpu/cuda): inputs, numbers, stages; and a
// device that it has broken.
#include "tests/gpu/cuda/evidence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/cuda/cuda_backend.h"
#include "tests/engine/cuda/fake/fake_device.h"
#include "tests/gpu/cuda/lost_device.h"

namespace loom::cuda {
namespace {

using testing::HasSubstr;

TEST(CudaEvidence, NamesInputsNumbersAndStages) {
  const auto& all = cases::opCases();
  const auto softmax =
      std::find_if(all.begin(), all.end(), [](const cases::OpCase& one) { return one.op == "softmax"; });
  ASSERT_NE(softmax, all.end());
  const auto backend = makeCudaBackend(std::make_shared<fake::FakeDevice>());
  const auto found = cases::runCase(*softmax, *backend);
  auto wanted = found;
  wanted.at("y")[1] = 40;
  wanted.at("loss")[0] = std::nanf("");
  wanted["state of none"] = {1};
  const std::string text = evidenceOf(*softmax, found, wanted, *backend, {});
  for (const std::string& part : {"case " + softmax->name + ", op softmax", std::string("in0: values "),
                                  std::string("[1] got "), std::string(" wanted 40"), std::string(" wanted nan"),
                                  std::string("state of none is missing"), std::string("softmax.f32 by own")})
    EXPECT_THAT(text, HasSubstr(part));
  EXPECT_THAT(text, HasSubstr(fmt::format("y: {0} of {0} numbers, 1 differ", found.at("y").size())));
}

TEST(CudaEvidence, ADeviceThatIsLostEndsTheProcess) {
  const auto broken = [] {
    fake::FakeDevice device;
    device.failCall(1);
    expectDevice(device, "softmax_rows");
  };
  EXPECT_EXIT(broken(), testing::ExitedWithCode(kDeviceLost), "");
  fake::FakeDevice device;
  expectDevice(device, "softmax_rows");
  EXPECT_EQ(device.usedBytes(), 0U);
}

}  // namespace
}  // namespace loom::cuda
