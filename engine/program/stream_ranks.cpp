#include "engine/program/stream_ranks.h"

namespace loom {

std::string_view toString(RankExchange::Kind kind) {
  switch (kind) {
    case RankExchange::Kind::allReduce:
      return "all-reduce";
    case RankExchange::Kind::allGather:
      return "all-gather";
    case RankExchange::Kind::reduceScatter:
      return "reduce-scatter";
    case RankExchange::Kind::broadcast:
      return "broadcast";
    case RankExchange::Kind::reduce:
      return "reduce";
    case RankExchange::Kind::send:
      return "send";
    case RankExchange::Kind::receive:
      return "receive";
  }
  return "exchange";
}

}  // namespace loom
