#pragma once
// A run is a folder: what training writes and the launcher reads. Names and formats stand here, for both sides.
//   run.json        everything that defines the run: project (whole), resolved settings, data facts, seed, ranks, host,
//   versions control.jsonl   commands to the run, read at step boundaries events.jsonl    append-only, one object a
//   line: {"v":1,"seq":17,"attempt":1,"time":1690000000.123,"kind":"step",...} checkpoints/ step-00000128.safetensors,
//   best.json and last.json naming two of them log.txt         what the process printed lock            held (flock,
//   see run_lock.h) by the process that trains: a run without a holder is not running
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/json.h"

namespace loom {

struct RunFolder {
  std::filesystem::path path;
  std::filesystem::path runFile() const { return path / "run.json"; }
  std::filesystem::path eventsFile() const { return path / "events.jsonl"; }
  std::filesystem::path controlFile() const { return path / "control.jsonl"; }
  std::filesystem::path logFile() const { return path / "log.txt"; }
  std::filesystem::path lockFile() const { return path / "lock"; }
  std::filesystem::path checkpoints() const { return path / "checkpoints"; }
  // Whether a process holds the lock now.
  bool running() const;
};

// Kinds and the fields that readers may rely on; all else is stored and passed on.
//   started     {"attempt", "resumed_from" (step or absent), "steps_total", "steps_per_epoch", "epochs", "samples",
//   "batch",
//                "parameters", "device", "pid", "host"}
//   devices, plan   free; layers {"step", "steps", "ms": {node: mean of so many steps}, "other_ms"}, once an attempt
//   recorded    what a step made of each layer: layer_record.h
//   step        {"step" (1 = after the first update), "epoch" (fractional), "samples" (so far), "loss", "metrics":
//   {name: value},
//                "learning_rate", "ms", "data_ms"}          every step; numbers by numberToJson()
//   epoch       {"step", "epoch", "loss", "metrics"}        means over the epoch's training samples
//   validation  {"step", "epoch", "loss", "metrics", "samples", "ms"}
//   checkpoint  {"step", "file", "best": bool}
//   control     {"command", ...}                            a command that was carried out, with "step"
//   warning, error   {"message", "code", ...}
//   finished    {"reason": "done" | "stopped" | "failed", "step", "message", "best": {"metric", "value", "epoch",
//   "step"}}
struct Event {
  std::int64_t sequence = 0;
  std::int64_t attempt = 1;
  double time = 0;  // seconds since 1970
  std::string kind;
  Json body;  // the whole object
};

// Appends whole lines with one write() each; sequence numbers go on from what the file holds; a torn last line of a
// killed process is closed first. A file that is deleted meanwhile is made anew, with what follows. Throws
// Error(diskFull, ...).
class EventWriter {
 public:
  EventWriter(const RunFolder& folder, std::int64_t attempt);
  ~EventWriter();
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;
  // Answers the event as it stands in the file. A line that could be written only in part is taken back. One thread.
  Event write(std::string_view kind, const Json& fields);
  std::int64_t attempt() const { return m_attempt; }
  // All that was written is on the disk: before what relies on it (a checkpoint). Events that begin or end an attempt
  // or tell of a checkpoint are by themselves; one of a step is not worth its milliseconds.
  void sync();

 private:
  void open();
  int m_file = -1;
  std::filesystem::path m_path;
  std::int64_t m_attempt = 1;
  std::int64_t m_next = 0;
};

// The last event that the file holds, found from its end; nothing when there is none.
std::optional<Event> lastEvent(const RunFolder& folder);
// What stands right before an offset of a log, as a hash: whoever goes on there knows by it whether the file is still
// the one that was read. Empty at the beginning, and where the file ends before the offset.
std::string logMark(const std::filesystem::path& file, std::int64_t offset);
std::string logMark(int file, std::int64_t offset);  // of one that is open
// One line of events.jsonl; nothing for what is no event.
std::optional<Event> parseEvent(std::string_view line);

// Reads whole lines from a byte offset; what is no event (garbage, torn lines) is skipped and counted.
class EventReader {
 public:
  explicit EventReader(std::filesystem::path file, std::int64_t offset = 0)
      : m_file(std::move(file)), m_offset(offset) {}
  // New events since the last call, at most `limit`; empty when the file is not there yet. Begins anew when the file
  // has become shorter than what was read of it.
  std::vector<Event> read(std::size_t limit = 100000);
  std::int64_t offset() const { return m_offset; }
  std::int64_t skipped() const { return m_skipped; }

 private:
  std::filesystem::path m_file;
  std::int64_t m_offset = 0, m_skipped = 0;
};

// Commands: {"command": "stop"}, {"command": "stop_after_epoch"}, {"command": "learning_rate", "value": 0.01},
// each with "id" (the writer's choice) and "time". What lacks a "time" is given one. The reading side is control.h.
void appendControl(const RunFolder& folder, const Json& command);

}  // namespace loom
