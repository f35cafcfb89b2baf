#pragma once
// What a check wants to know of a machine. Numbers as they are; judging them, and the remedy, is the launcher's.
#include <cstdint>
#include <filesystem>

#include "engine/base/json_fwd.h"

namespace loom {

// {"machine", "user", "time", "system", "libc", "cores", "memory_free", "stack", "locked_memory",
//  "open_files": {"soft", "hard"}, "shared_memory": {"free", "size"},
//  "disk": {"folder", "free", "size", "writable", "why"}, "quota": text of quota(1) when it speaks,
//  "mpi": {"program", "version"}, "slurm": {"version"}, "gpus": [{"name", "memory", "driver"}]}
// `need`: bytes that a run will want on the disk; they are really taken and given back, so that a quota speaks too.
Json machineFacts(const std::filesystem::path& folder, std::int64_t need);

// The same in short, for each rank of a check (`loom agent --probe`): {"probe": 1, "machine", "rank", "version",
// "time", "open_files", "shared_memory"}.
Json probeFacts(const std::string& version);

}  // namespace loom
