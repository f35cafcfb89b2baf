#pragma once
// The agent's verb `ask`: what `loom evaluate`, `loom predict` and `loom look` answer, from networks that stay ready
// (trained_runs.h). One resident engine so serves every question about a trained run, here and on a host.
//
//   {"verb": "ask", "question": 7, "words": ["evaluate", "/folder/of/the/run", "--report", ...]}
// Questions are numbered by whoever asks, each higher than the one before. What the program would print is told as it
// comes, {"ask": 7} + bytes, in pieces; then comes the answer {}, or the error.
//   {"verb": "unask", "question": 7}    calls it off, whether it waits or is worked on
#include <atomic>
#include <memory>
#include <mutex>
#include <set>

#include "engine/agent/agent.h"

namespace loom {

class TrainedRuns;

class RunService : public AgentService {
 public:
  RunService();
  ~RunService() override;
  bool knows(const std::string& verb) const override { return verb == "ask" || verb == "unask"; }
  void heard(const Json& request) override;
  Json perform(const Json& request, const std::string& bytes, std::string& more, const Tell& tell) override;
  void stop() override { m_ending = m_stop = true; }

 private:
  std::atomic<bool> m_stop{false}, m_ending{false};
  std::unique_ptr<TrainedRuns> m_runs;
  std::mutex m_mutex;
  std::set<std::int64_t> m_dropped;  // questions that wait, and that nobody wants any more
  std::int64_t m_now = -1;           // that is worked on
};

}  // namespace loom
