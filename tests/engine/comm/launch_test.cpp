// What a launcher says through the environment.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

#include "engine/comm/open_mpi.h"

namespace loom {
namespace {

// The environment of one rank, and what was there before afterwards.
class Environment {
 public:
  explicit Environment(const std::map<std::string, std::string>& values) {
    for (const char* name : {"OMPI_COMM_WORLD_SIZE", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_NODEID",
                             "SLURM_TASKS_PER_NODE", "PMIX_RANK", "PMI_RANK"}) {
      if (const char* value = std::getenv(name)) m_before[name] = value;
      ::unsetenv(name);
      m_names.emplace_back(name);
    }
    for (const auto& [name, value] : values) ::setenv(name.c_str(), value.c_str(), 1);
  }
  ~Environment() {
    for (const std::string& name : m_names) ::unsetenv(name.c_str());
    for (const auto& [name, value] : m_before) ::setenv(name.c_str(), value.c_str(), 1);
  }

 private:
  std::vector<std::string> m_names;
  std::map<std::string, std::string> m_before;
};

Launch slurm(const char* tasksPerNode, const char* node = "0") {
  const Environment environment({{"SLURM_PROCID", "5"},
                                 {"SLURM_NTASKS", "8"},
                                 {"SLURM_LOCALID", "1"},
                                 {"SLURM_NODEID", node},
                                 {"SLURM_TASKS_PER_NODE", tasksPerNode},
                                 {"PMIX_RANK", "5"}});
  return launchOfEnvironment();
}

TEST(Launch, ReadsSlurmsShorthandForTheTasksOfEachNode) {
  const Launch launch = slurm("4(x2)", "1");
  EXPECT_TRUE(launch.launched);
  EXPECT_EQ(launch.rank, 5);
  EXPECT_EQ(launch.size, 8);
  EXPECT_EQ(launch.localRank, 1);
  EXPECT_EQ(launch.localSize, 4);
  EXPECT_EQ(slurm("8").localSize, 8);
  EXPECT_EQ(slurm("2,3(x2),1", "0").localSize, 2);
  EXPECT_EQ(slurm("2,3(x2),1", "2").localSize, 3);
  EXPECT_EQ(slurm("2,3(x2),1", "3").localSize, 1);
}

TEST(Launch, WhatIsNoShorthandIsOneTask) {
  for (const char* text : {"", "x", "0", "4(x", "4(x2", "4;2", "-3", "99999999999"})
    EXPECT_EQ(slurm(text, "1").localSize, 1) << text;
}

TEST(Launch, WithoutALauncherThereIsOneRank) {
  const Environment environment({});
  const Launch launch = launchOfEnvironment();
  EXPECT_FALSE(launch.launched);
  EXPECT_EQ(launch.size, 1);
}

}  // namespace
}  // namespace loom
