#pragma once
// What the ops between ranks share. Their attributes: `group`, a name that the run knows ("data": all of its ranks);
// `ranks`, the size of that group (1 when absent), because shapes follow from it; `bucket`, which tells messages of one
// group apart. Every rank of a group enters its ops in one order: that of the program.
//
// Gradients are those of the sum of all ranks' losses, as data parallel training takes it: what a rank's x adds to the
// losses of the others comes back to it over the adjoint of the op.
#include "engine/ops/support.h"

namespace loom::ops {

std::int64_t ranksOf(const Attributes& attributes);
// The attribute `key` as a rank of the group; throws Error(badProject) naming both numbers.
std::int64_t rankOf(const Attributes& attributes, std::string_view key);
// The same for a message, which nobody can send to themselves: refuses a group of one, too.
void needPartner(std::string_view op, std::string_view key, const Attributes& attributes);
// References know one process; throws Error(badArgument) for a group of more.
void needAlone(std::string_view op, const Attributes& attributes);

}  // namespace loom::ops
