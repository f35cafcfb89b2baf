#pragma once
// What hollow_nccl.cpp shares with a test besides the environment, which threads had better not change: its symbol
// "hollowAborts" answers where.
#include <atomic>

struct HollowAborts {
  std::atomic<bool> waits{false};  // as NCCL's does while a graph holds an exchange
  std::atomic<int> begun{0}, ended{0};
};
