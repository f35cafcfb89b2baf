#include "engine/ops/communication.h"

namespace loom::ops {

std::int64_t ranksOf(const Attributes& attributes) {
  const std::int64_t ranks = attributes.integer("ranks", 1);
  if (ranks < 1) throwError(ErrorCode::badProject, "a group has {} ranks, but needs at least 1", ranks);
  return ranks;
}

std::int64_t rankOf(const Attributes& attributes, std::string_view key) {
  const std::int64_t ranks = ranksOf(attributes), rank = attributes.integer(key);
  if (rank < 0 || rank >= ranks)
    throwError(ErrorCode::badProject, "'{}' is rank {}, but the group has {}: 0 to {}", key, rank, ranks, ranks - 1);
  return rank;
}

void needPartner(std::string_view op, std::string_view key, const Attributes& attributes) {
  if (ranksOf(attributes) == 1)
    throwError(ErrorCode::badProject, "{} in a group of 1 rank: a message needs 2, and none goes from a rank to itself",
               op);
  rankOf(attributes, key);
}

void needAlone(std::string_view op, const Attributes& attributes) {
  if (ranksOf(attributes) > 1)
    throwError(ErrorCode::badArgument, "{} between {} ranks has no reference in one process: only a group of 1 has", op,
               ranksOf(attributes));
}

}  // namespace loom::ops
