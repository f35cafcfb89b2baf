#pragma once
// What a check wants to know of a machine. Numbers as they are; judging them, and the remedy, is the launcher's.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "engine/base/json_fwd.h"

namespace loom {

// {"machine", "user", "time", "system", "libc", "cores", "memory_free", "stack", "locked_memory",
//  "open_files": {"soft", "hard"}, "shared_memory": {"free", "size"},
//  "disk": {"folder", "free", "size", "writable", "why"}, "quota": text of quota(1) when it speaks,
//  "mpi": {"program", "version"}, "slurm": {"version"}, "gpus": [{"name", "memory", "driver"}]}
// `need`: bytes that a run will want on the disk; they are really taken and given back where the file system can do so
// by itself, so that a quota speaks too.
// "libraries": as `loom doctor --libraries` has them, [{"key", "value", "advice", "remedy"}]; `libraries`: a folder
// that is searched for them first, or empty.
Json machineFacts(const std::filesystem::path& folder, std::int64_t need, const std::string& libraries = {});

// The same in short, for each rank of a check (`loom agent --probe`): {"probe": 1, "machine", "architecture", "rank",
// "version", "time", "open_files", "shared_memory"}.
Json probeFacts(const std::string& version);

// Whether a file of `need` bytes can be made in the folder; empty, or why not. `allocate` takes them for an open file
// and answers 0 or errno, as fallocate() does.
using Allocate = std::function<int(int file, std::int64_t bytes)>;
int allocate(int file, std::int64_t bytes);
std::string whyNoRoom(const std::filesystem::path& folder, std::int64_t need, const Allocate& take = allocate);

}  // namespace loom
