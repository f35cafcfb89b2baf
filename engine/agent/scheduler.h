#pragma once
// A batch system by its own programs, each started with its words as they are. What it does not tell is not known,
// never "finished". Adding one: a class behind this seam in a file of its own and its line in scheduler.cpp; whatever
// else asks for a job of it goes through here.
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/agent/job_folder.h"

namespace loom {

struct BatchState {
  JobPhase phase = JobPhase::unknown;
  int code = -1;            // of an ended job, where the system tells; as a shell gives it
  std::string detail;       // one sentence: why it waits, why its state is not known
  bool forgotten = false;   // the system answered, and knows no such job (any more)
  bool notStarted = false;  // it could not be started, so the system holds it until somebody releases it
  bool releasing = false;   // somebody has asked for that, and no answer is newer
  double asked = 0;         // seconds since 1970; 0 = the system was not asked yet
};

enum class BatchEnd { stop, kill };  // stop: the supervisor is told, which has a checkpoint written

struct Submission {
  std::filesystem::path script, folder;
  std::string name;      // that of the job there: how it is found where the answer was lost
  std::string previous;  // number of the start before this one, which may carry the same name
};

// The job that the asking process is, where the system started it.
struct OwnBatch {
  std::string number;
  int restarts = 0;  // how often the system itself has started it anew
};

class Scheduler {
 public:
  virtual ~Scheduler() = default;
  virtual const char* key() const = 0;   // in launch.json and process.json
  virtual const char* name() const = 0;  // in sentences
  // Answers the job's number: what all else here takes. Throws Error(badArgument) with the system's own words where it
  // refused, Error(communication) where it did not answer and it is not known whether the job is there.
  virtual std::string submit(const Submission& job) const = 0;
  // One question for all; each of `numbers` stands in the answer. Never throws.
  virtual std::map<std::string, BatchState> query(const std::vector<std::string>& numbers) const = 0;
  // One that the system no longer knows has ended: no error. Throws Error(communication) with the system's own words.
  virtual void cancel(const std::string& number, BatchEnd how) const = 0;
  // One that is held waits its turn again. Throws Error(communication) with the system's own words.
  virtual void release(const std::string& number) const = 0;
  // The newest job of this person with that name which has not ended and is not `previous`; empty = there is none.
  // Throws Error(communication) where the system does not answer.
  virtual std::string findByName(const std::string& name, const std::string& previous) const = 0;
  virtual std::optional<OwnBatch> self() const = 0;
};

// That whose key the object holds (launch.json, process.json); null where a job is a process of this machine.
const Scheduler* schedulerOf(const Json& object);

}  // namespace loom
