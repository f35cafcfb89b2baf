// What Slurm's programs print.
#include "engine/agent/slurm.h"
#include "tests/fuzz/fuzz.h"

using namespace loom;

LOOM_FUZZ(slurm) {
  const std::string text(bytes);
  // A number, or a number and the cluster that it is of: it is put into commands.
  if (const std::string number = slurmNumberFrom(text); !number.empty()) {
    const std::size_t digits = number.find_first_not_of("0123456789");
    if (digits == 0 || (digits != std::string::npos && number[digits] != ';') ||
        number.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789;._-") !=
            std::string::npos)
      std::abort();
  }
  const std::size_t at = text.find('|');
  (void)slurmStateFrom(text.substr(0, at), at == std::string::npos ? "" : text.substr(at + 1));
}
