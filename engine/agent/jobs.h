#pragma once
// The jobs below one folder: starting, asking, ending, and their files.
#include <filesystem>
#include <functional>
#include <string>

#include "engine/agent/job_folder.h"

namespace loom {

class Jobs {
 public:
  explicit Jobs(std::filesystem::path folder) : m_folder(std::move(folder)) {}

  JobFolder folder(const std::string& id) const;  // throws Error(badArgument) for what is no id
  // Answers the state and "started": whether this call did it. Throws Error.
  Json start(const std::string& id, const Json& launch, const std::string& script, const std::string& project) const;
  Json list() const;
  void control(const std::string& id, const Json& command) const;
  void cancel(const std::string& id, const std::string& how) const;
  Json files(const std::string& id) const;
  // At most 1 MiB from `offset`; {"size", "end"} and the bytes. Nothing outside of the job's folder.
  Json get(const std::string& id, const std::string& file, std::int64_t offset, std::string& bytes) const;

 // {"size", "sha256"} of a file of the job; calls `busy` now and then while it reads.
  Json hash(const std::string& id, const std::string& file, const std::function<void()>& busy) const;

 private:
  // The file within the job's folder, whatever links lie there. Throws Error.
  std::filesystem::path fileOf(const std::string& id, const std::string& file) const;
  JobFolder wanted(const std::string& id) const;  // throws Error(missingFile) where there is no such job
  std::filesystem::path m_folder;
};

}  // namespace loom
