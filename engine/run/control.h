#pragma once
// The reading side of control.jsonl: rank 0 asks for new commands at step boundaries. Asking costs one read().
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/run/run_folder.h"

namespace loom {

class ControlReader {
 public:
  enum class From { start, end };  // end: commands that stand there already belonged to an earlier attempt
  ControlReader(const RunFolder& folder, From from);
  ~ControlReader();
  ControlReader(const ControlReader&) = delete;
  ControlReader& operator=(const ControlReader&) = delete;

  // Commands since the last call, in order; lines that are none are skipped and counted. Never throws for what they
  // say.
  std::vector<Json> read();
  std::int64_t skipped() const { return m_skipped; }

 private:
  int m_file = -1;
  std::int64_t m_offset = 0, m_skipped = 0;
  std::string m_open;  // a line that has no end yet
};

}  // namespace loom
