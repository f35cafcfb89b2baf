#pragma once
// What `loom` answers to its caller: one number a kind of end, the same for every verb, so that the launcher, a script
// and a batch system can tell them apart. They stay below 64 and never change.
#include <optional>

#include "engine/base/error.h"

namespace loom {

inline constexpr int kExitDone = 0;

constexpr int exitCode(ErrorCode code) {
  switch (code) {
    case ErrorCode::internal:
      return 1;
    case ErrorCode::badArgument:
      return 2;
    case ErrorCode::stopped:
      return 3;  // by a person or a signal, with a checkpoint where there was something to keep
    case ErrorCode::badProject:
      return 10;
    case ErrorCode::newerVersion:
      return 11;
    case ErrorCode::badData:
      return 20;
    case ErrorCode::missingFile:
      return 21;
    case ErrorCode::diskFull:
      return 30;
    case ErrorCode::inputOutput:
      return 31;
    case ErrorCode::device:
      return 40;
    case ErrorCode::communication:
      return 41;
    case ErrorCode::diverged:
      return 50;
  }
  return 1;
}

// The kind behind an exit status; nothing for 0 and for what `loom` never answers (a crash, a shell's 127).
constexpr std::optional<ErrorCode> errorOfExit(int status) {
  for (int code = 0; code <= static_cast<int>(ErrorCode::internal); ++code)
    if (exitCode(static_cast<ErrorCode>(code)) == status) return static_cast<ErrorCode>(code);
  return {};
}

}  // namespace loom
