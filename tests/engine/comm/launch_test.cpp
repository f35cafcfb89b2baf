// What launchers of ranks say through the environment.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <initializer_list>
#include <string>

#include "engine/base/error.h"
#include "engine/comm/open_mpi.h"

namespace loom {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kNames[] = {"OMPI_COMM_WORLD_SIZE",
                                  "OMPI_COMM_WORLD_RANK",
                                  "OMPI_COMM_WORLD_LOCAL_SIZE",
                                  "PMI_RANK",
                                  "PMI_SIZE",
                                  "PMIX_RANK",
                                  "SLURM_PROCID",
                                  "SLURM_NTASKS",
                                  "SLURM_LOCALID",
                                  "SLURM_NODEID",
                                  "SLURM_STEP_ID",
                                  "SLURM_STEP_NUM_TASKS",
                                  "SLURM_STEP_TASKS_PER_NODE"};

struct Pair {
  const char *name, *value;
};
Launch launchIn(std::initializer_list<Pair> environment) {
  for (const char* each : kNames) ::unsetenv(each);
  for (const Pair& each : environment) ::setenv(each.name, each.value, 1);
  struct Clean {
    ~Clean() {
      for (const char* each : kNames) ::unsetenv(each);
    }
  } clean;
  return launchOfEnvironment();
}

std::string refusalIn(std::initializer_list<Pair> environment) {
  try {
    launchIn(environment);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::communication);
    return error.what();
  }
  return {};
}

TEST(Launch, KnowsOpenMpiAndSrun) {
  EXPECT_FALSE(launchIn({}).launched);
  EXPECT_EQ(launchIn({{"OMPI_COMM_WORLD_SIZE", "3"}, {"OMPI_COMM_WORLD_RANK", "2"}}).rank, 2);
  const Launch last = launchIn({{"PMIX_RANK", "6"},
                                {"SLURM_PROCID", "6"},
                                {"SLURM_NTASKS", "7"},
                                {"SLURM_NODEID", "3"},
                                {"SLURM_STEP_ID", "0"},
                                {"SLURM_STEP_NUM_TASKS", "7"},
                                {"SLURM_STEP_TASKS_PER_NODE", "2(x3),1"}});
  EXPECT_TRUE(last.launched);
  EXPECT_EQ(last.size, 7);
  EXPECT_EQ(last.localSize, 1);
  EXPECT_EQ(
      launchIn(
          {{"PMIX_RANK", "3"}, {"SLURM_PROCID", "3"}, {"SLURM_NODEID", "1"}, {"SLURM_STEP_TASKS_PER_NODE", "2(x3),1"}})
          .localSize,
      2);
}

int localSizeOf(const char* tasksPerNode, const char* node) {
  return launchIn({{"PMIX_RANK", "5"},
                   {"SLURM_PROCID", "5"},
                   {"SLURM_NTASKS", "8"},
                   {"SLURM_NODEID", node},
                   {"SLURM_STEP_TASKS_PER_NODE", tasksPerNode}})
      .localSize;
}

TEST(Launch, ReadsSlurmsShorthandForTheTasksOfEachNode) {
  EXPECT_EQ(localSizeOf("4(x2)", "1"), 4);
  EXPECT_EQ(localSizeOf("8", "0"), 8);
  EXPECT_EQ(localSizeOf("2,3(x2),1", "0"), 2);
  EXPECT_EQ(localSizeOf("2,3(x2),1", "2"), 3);
  EXPECT_EQ(localSizeOf("2,3(x2),1", "3"), 1);
}

TEST(Launch, WhatIsNoShorthandIsOneTask) {
  for (const char* text : {"", "x", "0", "4(x", "4(x2", "4;2", "-3", "99999999999"})
    EXPECT_EQ(localSizeOf(text, "1"), 1) << text;
}

// Each of them would otherwise train by itself, into the same run.
TEST(Launch, RefusesRanksOfAnotherMpi) {
  EXPECT_THAT(refusalIn({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}),
              AllOf(HasSubstr("rank 1 of 2"), HasSubstr("MPICH"), HasSubstr("srun --mpi=pmix")));
  EXPECT_THAT(refusalIn({{"SLURM_PROCID", "1"}, {"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "2"}}),
              AllOf(HasSubstr("task 1 of 2"), HasSubstr("PMIx")));
  EXPECT_EQ(refusalIn({{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}}), "");
  EXPECT_EQ(refusalIn({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}}), "");  // a batch script
}

}  // namespace
}  // namespace loom
