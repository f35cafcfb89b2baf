#pragma once
// Before the first step all ranks show what they would train, and none begins unless all would train the same.
#include <optional>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/comm/communicator.h"
#include "engine/data/dataset.h"

namespace loom {

// 64 bits in hexadecimal.
std::string fingerprint(std::string_view text);
// {"rows", "variables", "content"}: the dataset's own hash, or that of some rows over the whole set where it knows
// none.
Json fingerprint(const Dataset& dataset);

// `facts`: {"settings": {...}, "network 'main'": "...", "dataset 'training'": {...}}, compared value by value;
// `failure`: why this rank cannot begin. Throws on every rank alike: a rank's failure under its name and host, or
// Error(communication) that names ranks, hosts, the facts that differ and both values. Alone it throws `failure`.
void agree(Communicator& communicator, const Json& facts, const std::optional<Error>& failure);

}  // namespace loom
