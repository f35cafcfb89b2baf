#pragma once
#include <nlohmann/json_fwd.hpp>

namespace loom {
using Json = nlohmann::ordered_json;
}
