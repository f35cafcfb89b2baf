#pragma once
// Slurm by sbatch, squeue, sacct, scontrol and scancel.
#include <chrono>

#include "engine/agent/scheduler.h"

namespace loom {

struct SlurmLimits {
  std::chrono::milliseconds submit{60000};    // sbatch: a busy controller answers late
  std::chrono::milliseconds answer{20000};    // all others
  std::chrono::milliseconds lookAgain{3000};  // between looks for a job whose sbatch gave no answer; three looks
};

class Slurm : public Scheduler {
 public:
  explicit Slurm(SlurmLimits limits = {}) : m_limits(limits) {}
  const char* key() const override { return "slurm"; }
  const char* name() const override { return "Slurm"; }
  std::string submit(const Submission& job) const override;
  std::map<std::string, BatchState> query(const std::vector<std::string>& numbers) const override;
  void cancel(const std::string& number, BatchEnd how) const override;
  void release(const std::string& number) const override;
  std::string findByName(const std::string& name, const std::string& previous) const override;
  std::optional<OwnBatch> self() const override;

 private:
  void queryCluster(const std::string& cluster, const std::vector<std::string>& numbers,
                    std::map<std::string, BatchState>& states) const;
  SlurmLimits m_limits;
};

// From a state's name and its reason: "PENDING", "Priority".
BatchState slurmStateFrom(std::string state, std::string reason);
// "1234" or, where there are several clusters, "1234;name", from what sbatch --parsable printed: warnings of plug-ins
// may stand around it. Empty = no number.
std::string slurmNumberFrom(const std::string& output);

}  // namespace loom
