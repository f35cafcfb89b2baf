#include "engine/base/error.h"

namespace loom {

std::string_view toString(ErrorCode code) {
  switch (code) {
    case ErrorCode::badArgument:
      return "bad argument";
    case ErrorCode::badProject:
      return "bad project";
    case ErrorCode::newerVersion:
      return "newer version";
    case ErrorCode::badData:
      return "bad data";
    case ErrorCode::missingFile:
      return "missing file";
    case ErrorCode::diskFull:
      return "disk full";
    case ErrorCode::inputOutput:
      return "input or output";
    case ErrorCode::device:
      return "device";
    case ErrorCode::communication:
      return "communication";
    case ErrorCode::stopped:
      return "stopped";
    case ErrorCode::diverged:
      return "diverged";
    case ErrorCode::internal:
      return "internal";
  }
  return "internal";
}

void Error::compose() {
  m_what.clear();
  for (auto where = m_context.rbegin(); where != m_context.rend(); ++where) m_what += *where + ": ";
  m_what += m_message;
}

}  // namespace loom
