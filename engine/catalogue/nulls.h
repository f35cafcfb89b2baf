#pragma once
#include "engine/catalogue/entry.h"

namespace loom {

// withoutDefaults() as a file is read: a null that stands for nothing is kept, so that validate() speaks about it.
Json withoutDefaultsButNulls(const Entry& entry, const Json& given);

}  // namespace loom
