#include "engine/base/host.h"

#include <unistd.h>

namespace loom {

std::string hostName() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  return name;
}

}  // namespace loom
