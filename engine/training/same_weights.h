#pragma once
// Whether all ranks hold the same weights. Each draws the first ones with its own mathematical library and changes them
// with its own instruction set, so hosts may come apart in the last bits, and by a fault of the machine further.
#include <cstdint>
#include <functional>
#include <string_view>

#include "engine/comm/communicator.h"
#include "engine/program/parameter_store.h"

namespace loom {

// Of the bits of all weights and running statistics; never 0.
std::uint64_t checksumOf(const ParameterStore& store);

enum class StorePart { values, valuesAndSlots };
// Rank 0's, to all, but for slots that `skips` tells, which ranks share. Blocks until every rank has called it.
using SkipsSlot = std::function<bool(std::string_view parameter, std::string_view slot)>;
void shareStore(Communicator& communicator, ParameterStore& store, StorePart what, const SkipsSlot& skips = nullptr);

}  // namespace loom
