// What Slurm's programs print.
#include "engine/agent/slurm.h"
#include "tests/fuzz/fuzz.h"

using namespace loom;

LOOM_FUZZ(slurm) {
  const std::string text(bytes);
  for (const char letter : slurmNumberFrom(text))
    if ((letter < '0' || letter > '9') && letter != ';' && letter != '-' && letter != '_' && letter != '.' && !std::isalnum(static_cast<unsigned char>(letter))) std::abort();
  const std::size_t at = text.find('|');
  (void)slurmStateFrom(text.substr(0, at), at == std::string::npos ? "" : text.substr(at + 1));
}
