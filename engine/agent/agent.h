#pragma once
// `loom agent`: the one command that a launcher starts on a host, through SSH or beside it. It speaks frames (frame.h)
// on its standard streams and ends when they do; what it starts goes on without it. What may take its time (a batch
// system, a disk) is done by threads of its own, so a ping is answered at once whatever hangs.
//
// Every request {"id": n, "verb": ...} is answered by {"re": n, "ok": true, ...}
// or {"re": n, "ok": false, "code", "message"}, with "again": true where nothing is wrong with the request and it may
// be asked for again later. Answers come as they are ready, not in the order of the requests.
//   hello    {"protocol": 1, "base": "~/.cache/gradloom"} -> version, machine, architecture, user, home, base, time,
//            damaged: what is gone of this engine, a sentence; comes before everything that needs the folder
//   ping     -> time
//   facts    {"need": bytes} -> what a check wants to know of this machine (facts.h), and damaged after reading it all
//   stat     {"path"} -> exists, kind ("file", "folder"), size; a path of this machine, or below the base
//   put      {"sha256", "size"} -> have, done, path; announces a file of the data folder, goes on where it broke off
//   chunk    {"sha256", "offset"} + bytes -> have, done; in order, the last one is answered when the hash agrees
//   start    {"job", "launch": {...}, "script"} + project's text -> the job's state, started; the same start again
//            changes nothing, or begins what was never begun
//   place    {"job", "files": {"checkpoints/last.json": sha256}}; files of the data folder become those of a run that
//   ran elsewhere and is
//            started next; refused while it waits or runs here
//   jobs     -> [states]
//   state    {"job"} -> state
//   control  {"job", "command": {...}}
//   cancel   {"job", "how": "stop" | "kill"}
//   settle   {"job", "start"} -> state; a person's word that a start whose state is not known has ended
//   files    {"job"} -> [{"path", "size"}]
//   get      {"job", "file", "offset"} -> size, end + at most 1 MiB
//   hash     {"job", "file"} -> size, sha256
//   tail     {"job", "events", "log", "marks": [[offset, logMark()], ...]}; marks of what the launcher has of the
//   events untail   {"job"} tensor   what flows along a wire: engine/loom/tensor_service.h
//   ask, unask   evaluate, predict, look: engine/loom/run_service.h
//
// After tail the agent tells by itself, in this order: {"job", "file": "run.json"} + its text, {"job", "events":
// offset} + whole lines, or before them {"job", "cut": offset} where the file is another than that of the marks from
// there on, {"job", "log": offset} + bytes, {"job", "state": {...}} when it changes, {"job", "end": true,
// "state"} when it has ended and everything was told. {"job", "warning": sentence} is worth showing and changes
// nothing;
// {"job", "fault": sentence, "again": true?} ends the tail. {"busy": true, "doing", "seconds", "waiting"} says what is
// still being worked on, every second or two.
#include <functional>
#include <memory>
#include <string>

#include "engine/base/json_fwd.h"

namespace loom {

inline constexpr int kAgentProtocol = 1;

// Writes frames to the launcher; how the services below tell something by themselves.
using Tell = std::function<void(const Json& header, std::string_view bytes)>;

// Verbs that another room performs, one after the other on a thread of their own.
class AgentService {
 public:
  virtual ~AgentService() = default;
  virtual bool knows(const std::string& verb) const = 0;
  // On the thread that reads, before the request waits its turn: what is older may have become pointless.
  virtual void heard(const Json& /*request*/) {}
  // Throws Error, which becomes the answer. `more`: bytes of the answer. `tell`: what is told meanwhile.
  virtual Json perform(const Json& request, const std::string& bytes, std::string& more, const Tell& tell) = 0;
  virtual void stop() {}  // nobody listens any more; any thread
};

struct AgentOptions {
  int in = 0, out = 1;
  std::string version;
  AgentService* service = nullptr;  // outlives the agent
  int silenceSeconds = 90;          // without a word of the launcher the connection is dead, whatever the system says
};

// Serves until the input ends. Answers an exit code.
int serveAgent(const AgentOptions& options);

}  // namespace loom
