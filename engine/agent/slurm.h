#pragma once
// Slurm by its own programs, each started with its words as they are. What Slurm does not tell is not known, never
// "finished".
#include <filesystem>
#include <string>

#include "engine/agent/job_folder.h"

namespace loom {

struct SlurmState {
  JobPhase phase = JobPhase::unknown;
  std::string detail;
};

// Answers the job's number. Throws Error(badArgument) with sbatch's own words.
std::string slurmSubmit(const std::filesystem::path& script, const std::filesystem::path& folder);
// squeue is asked at most every two seconds a job.
SlurmState slurmState(const std::string& number);
enum class SlurmEnd { stop, kill };  // stop: the supervisor is told, which writes a checkpoint
// Throws Error(communication) with scancel's own words.
void slurmCancel(const std::string& number, SlurmEnd how);

// From squeue's "STATE|REASON": PENDING|Priority.
SlurmState slurmStateFrom(const std::string& line);

}  // namespace loom
