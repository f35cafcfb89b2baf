#include "engine/loom/near_cores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "engine/base/files.h"

namespace loom {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Cores = std::set<int>;

// A machine with two nodes of four cores each, and a GPU on either.
class NearCoresTest : public testing::Test {
 protected:
  void SetUp() override {
    put("bus/pci/devices/0000:3b:00.0/numa_node", "0\n");
    put("bus/pci/devices/0000:3b:00.0/local_cpulist", "0-1,4-5\n");
    put("bus/pci/devices/0000:d8:00.0/numa_node", "1\n");  // an older kernel, that lists no cores beside a device
    put("devices/system/node/node1/cpulist", "2-3,6-7\n");
    put("bus/pci/devices/0000:af:00.0/numa_node", "-1\n");
    put("bus/pci/devices/0000:af:00.0/local_cpulist", "0-7\n");
  }
  void TearDown() override { std::filesystem::remove_all(m_sysfs); }
  void put(const std::string& file, const std::string& text) {
    std::filesystem::create_directories((m_sysfs / file).parent_path());
    writeFileAtomically(m_sysfs / file, text);
  }
  NearCores near(std::string_view pci, const Cores& allowed = {0, 1, 2, 3, 4, 5, 6, 7}) const {
    return coresNear(pci, allowed, m_sysfs);
  }
  std::filesystem::path m_sysfs = std::filesystem::temp_directory_path() / ("sysfs-" + std::to_string(::getpid()));
};

TEST_F(NearCoresTest, AreThoseOfTheDevicesNode) {
  EXPECT_THAT(near("0000:3b:00.0").cores, ElementsAre(0, 1, 4, 5));
  EXPECT_EQ(near("0000:3b:00.0").node, 0);
  EXPECT_THAT(near("0000:3B:00.0").cores, ElementsAre(0, 1, 4, 5)) << "as CUDA writes it";
  EXPECT_THAT(near("0000:D8:00.0").cores, ElementsAre(2, 3, 6, 7));
  EXPECT_EQ(near("0000:D8:00.0").node, 1);
}

TEST_F(NearCoresTest, AreOfThoseThatTheProcessMayUse) {
  EXPECT_THAT(near("0000:3b:00.0", {1, 2, 3, 4}).cores, ElementsAre(1, 4));
  EXPECT_THAT(near("0000:3b:00.0", {2, 3}).cores, ElementsAre(2, 3)) << "far ones are better than none";
}

TEST_F(NearCoresTest, AreAllWhereNothingIsKnown) {
  EXPECT_THAT(near("0000:ff:00.0", {1, 2}).cores, ElementsAre(1, 2));
  EXPECT_EQ(near("0000:ff:00.0").node, -1);
  EXPECT_THAT(near("", {1, 2}).cores, ElementsAre(1, 2));
  EXPECT_THAT(near("0000:af:00.0", {1, 2}).cores, ElementsAre(1, 2));
  put("bus/pci/devices/0000:3b:00.0/local_cpulist", "0-x\n");
  EXPECT_THAT(near("0000:3b:00.0", {1, 2}).cores, ElementsAre(1, 2));
}

TEST(CoreList, IsReadAndWritten) {
  EXPECT_THAT(coresOfList("0-2,5"), ElementsAre(0, 1, 2, 5));
  EXPECT_THAT(coresOfList("7"), ElementsAre(7));
  for (const char* wrong : {"", "a", "1-", "-1", "1,,2", "0-99999999"})
    EXPECT_THAT(coresOfList(wrong), IsEmpty()) << wrong;
  EXPECT_EQ(listOfCores({0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
  EXPECT_EQ(listOfCores({}), "");
}

TEST(CoreList, AProcessIsBoundToWhatIsAsked) {
  const Cores before = allowedCores();
  ASSERT_FALSE(before.empty());
  bindTo({*before.begin()});
  EXPECT_THAT(allowedCores(), ElementsAre(*before.begin()));
  bindTo({});
  EXPECT_THAT(allowedCores(), ElementsAre(*before.begin()));
  bindTo(before);
  EXPECT_EQ(allowedCores(), before);
}

}  // namespace
}  // namespace loom
