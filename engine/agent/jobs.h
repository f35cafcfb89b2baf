#pragma once
// The jobs below one folder: starting, asking, ending, and their files. Any thread.
#include <filesystem>
#include <functional>
#include <string>

#include "engine/agent/batch_desk.h"
#include "engine/agent/job_folder.h"
#include "engine/agent/store.h"

namespace loom {

class Jobs {
 public:
  Jobs(std::filesystem::path folder, BatchDesk& desk) : m_folder(std::move(folder)), m_desk(desk) {}

  JobFolder folder(const std::string& id) const;  // throws Error(badArgument) for what is no id
  // Answers the state and "started": whether this call did it. Throws Error.
  // Error(communication) says that it may be asked for again: a batch system did not answer.
  Json start(const std::string& id, const Json& launch, const std::string& script, const std::string& project) const;
  // Files of the data folder become those of a run that ran elsewhere: {"run.json": sha256, "checkpoints/last.json":
  // ...}. What lay here of an earlier time is replaced. Throws Error, also while it waits or runs here.
  void place(const std::string& id, const Json& files, const DataStore& data) const;
  // As far as it is known without waiting for a batch system.
  JobState state(const std::string& id) const;
  Json list() const;
  void control(const std::string& id, const Json& command) const;
  void cancel(const std::string& id, const std::string& how) const;
  // A person's word that a start has ended whose state nobody can tell any more. Throws Error(badArgument) where it
  // is known to wait or to run. Answers the state.
  JobState settle(const std::string& id, int start) const;
  Json files(const std::string& id) const;
  // At most 1 MiB from `offset`; {"size", "end"} and the bytes. Nothing outside of the job's folder.
  Json get(const std::string& id, const std::string& file, std::int64_t offset, std::string& bytes) const;

  // {"size", "sha256"} of a file of the job; calls `busy` now and then while it reads.
  Json hash(const std::string& id, const std::string& file, const std::function<void()>& busy) const;

 private:
  // The file within the job's folder, whatever links lie there. Throws Error.
  std::filesystem::path fileOf(const std::string& id, const std::string& file) const;
  JobFolder wanted(const std::string& id) const;  // throws Error(missingFile) where there is no such job
  JobState stateNow(const JobFolder& job) const;
  void requireEnded(const JobFolder& job) const;
  bool adopt(const JobFolder& job, const Json& launch) const;
  void begin(const JobFolder& job, const Json& launch, const std::string& script) const;

  std::filesystem::path m_folder;
  BatchDesk& m_desk;
};

}  // namespace loom
