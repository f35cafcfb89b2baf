// A fake that never fails proves nothing: what a plan might forget is forgotten here, one thing at a time, and must be
// found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "engine/base/error.h"
#include "engine/cuda/cuda_backend.h"
#include "tests/engine/cpu/networks.h"
#include "tests/engine/cuda/forgetful_device.h"

namespace loom::cuda::fake {
namespace {

// Two steps of a network that nobody waits for in between, the second accumulating; the fault that was met.
struct Trial {
  std::string fault;
  ForgetfulDevice::Asked asked;
};
Trial train(const Program& program, std::uint64_t seed, int steps,
            const std::function<void(ForgetfulDevice&)>& mutate) {
  const auto device = std::make_shared<ForgetfulDevice>(FakeOptions{.seed = seed});
  mutate(*device);
  try {
    const auto backend = makeCudaBackend(device);
    ParameterStore store(11, backend->makeMemory());
    store.ensure(program.parameters);
    const auto executable = backend->compile(program, store, {});
    for (int k = 0; k < steps; ++k) {
      networks::fill(*executable, networks::kClasses);
      const auto x = executable->input("x");
      reinterpret_cast<float*>(x.data())[0] = static_cast<float>(k);  // another batch each time
      executable->run({.step = k, .accumulate = true});
    }
    networks::collect(*executable, store);
  } catch (const Error&) {
  }
  return {device->inner().takeFault().value_or(""), device->asked()};
}

// The tables of a kernel that moves many tensors, named first in its arguments: without them it would follow addresses
// that are none.
bool isTable(const Call& call, const Access& access) {
  const auto* const kernel = std::get_if<KernelCall>(&call);
  if (kernel == nullptr || !kernel->kernel.ends_with("_all")) return false;
  const std::byte* tables[2] = {};
  std::memcpy(tables, kernel->arguments.data(), sizeof(tables));
  return access.data == tables[0] || access.data == tables[1];
}

class Mutation : public testing::TestWithParam<Program (*)(std::int64_t)> {};

TEST_P(Mutation, EveryReadAndWriteThatAStageForgetsIsFound) {
  const Program program = GetParam()(2);
  const Trial whole = train(program, 1, 1, [](ForgetfulDevice&) {});
  ASSERT_EQ(whole.fault, "");
  int forgotten = 0;
  for (std::size_t call = 0; call < whole.asked.calls.size(); ++call)
    for (std::size_t access = 0; access < whole.asked.calls[call].second.size(); ++access) {
      const auto& all = whole.asked.calls[call].second;
      // What is read and written in place may be the same as what is left alone (a gradient that passes a ReLU): to
      // have declared the write is enough.
      const bool inPlace = std::ranges::any_of(all, [&](const Access& other) {
        return other.write && !all[access].write && other.data <= all[access].data &&
               all[access].data + all[access].bytes <= other.data + other.bytes;
      });
      if (all[access].bytes == 0 || inPlace || isTable(whole.asked.whole[call], all[access])) continue;
      const auto mutate = [&](ForgetfulDevice& device) {
        device.forgetAccess(static_cast<int>(call), static_cast<int>(access));
      };
      ++forgotten;
      EXPECT_NE(train(program, 1, 1, mutate).fault, "")
          << "access " << access << " of " << whole.asked.calls[call].first << ", "
          << whole.asked.calls[call].second[access].bytes << " bytes, write "
          << whole.asked.calls[call].second[access].write;
    }
  EXPECT_GT(forgotten, 80);
}

INSTANTIATE_TEST_SUITE_P(Networks, Mutation, testing::Values(networks::perceptron, networks::smallCnn));

// The events between the uploads and the steps.
TEST(Mutations, EveryWaitThatIsForgottenIsFound) {
  const Program program = networks::perceptron(2);
  const Trial whole = train(program, 1, 3, [](ForgetfulDevice&) {});
  ASSERT_EQ(whole.fault, "");
  ASSERT_EQ(whole.asked.waits, 5);  // of the compute stream for each upload, of the upload for the step before
  for (int wait = 0; wait < whole.asked.waits; ++wait)
    EXPECT_THAT(train(program, 1, 3, [&](ForgetfulDevice& device) { device.forgetWait(wait); }).fault,
                testing::HasSubstr("nothing orders them"))
        << "wait " << wait;
}

// Before the host writes into pinned memory again. Whether the upload has run by then is chance.
TEST(Mutations, TheHostsWaitForItsPinnedMemoryIsMissed) {
  const Program program = networks::perceptron(2);
  int found = 0;
  const auto mutate = [](ForgetfulDevice& device) { device.forgetSynchronisations(); };
  for (std::uint64_t seed = 1; seed < 9; ++seed)
    found += train(program, seed, 60, mutate).fault.find("pinned memory was changed") != std::string::npos;
  EXPECT_GT(found, 4);
}

}  // namespace
}  // namespace loom::cuda::fake
