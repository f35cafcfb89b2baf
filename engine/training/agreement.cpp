#include "engine/training/agreement.h"

#include <algorithm>

#include "engine/base/hash.h"
#include "engine/base/host.h"

namespace loom {
namespace {

constexpr std::int64_t kRowsRead = 64;
constexpr std::size_t kMostTold = 3;

std::string shown(const Json* value) {
  if (!value) return "nothing";
  const std::string text = value->dump();
  return text.size() <= 60 ? text : text.substr(0, 57) + "...";
}

// "dataset 'training' rows: 50 here, 40 there"
void compare(const std::string& place, const Json* first, const Json* other, std::vector<std::string>& differences) {
  if (first && other && first->is_object() && other->is_object()) {
    const Json none = Json::object();
    for (const auto& [key, value] : first->items()) {
      const auto found = other->find(key);
      compare(place.empty() ? key : place + " " + key, &value, found == other->end() ? nullptr : &*found, differences);
    }
    for (const auto& [key, value] : other->items())
      if (!first->contains(key)) compare(place.empty() ? key : place + " " + key, nullptr, &value, differences);
    return;
  }
  if (first && other && *first == *other) return;
  differences.push_back(fmt::format("{} is {} there and {} here", place, shown(other), shown(first)));
}

}  // namespace

std::string fingerprint(std::string_view text) {
  return fmt::format("{:016x}", Hash64::of(std::as_bytes(std::span(text))));
}

Json fingerprint(const Dataset& dataset) {
  Json variables = Json::array();
  for (const Variable& variable : dataset.schema().variables)
    variables.push_back(variable.name + " " + variable.shape.toString());
  if (const std::string known = dataset.contentHash(); !known.empty())
    return {{"rows", dataset.size()}, {"variables", std::move(variables)}, {"content", known}};
  Hash64 content;
  const std::int64_t rows = dataset.size(), read = std::min(rows, kRowsRead);
  for (std::int64_t i = 0; i < read; ++i) {
    const std::int64_t row = read > 1 ? (rows - 1) * i / (read - 1) : 0;
    for (std::size_t v = 0; v < dataset.schema().variables.size(); ++v) {
      Shape shape;
      const auto raw = dataset.read(row, v, &shape);
      content.add(raw.data(), raw.size_bytes());
    }
  }
  return {{"rows", rows}, {"variables", std::move(variables)}, {"content", fmt::format("{:016x}", content.value())}};
}

void agree(Communicator& communicator, const Json& facts, const std::optional<Error>& failure) {
  if (communicator.size() == 1) {
    if (failure) throw *failure;
    return;
  }
  Json mine = {{"host", hostName()}, {"facts", facts}};
  if (failure) mine.update({{"error", failure->what()}, {"code", static_cast<int>(failure->code())}});
  communicator.activity().subject.store("what all would train", std::memory_order_relaxed);
  std::vector<Json> all;
  for (const std::string& text :
       allGatherTexts(communicator, mine.dump(-1, ' ', false, Json::error_handler_t::replace)))
    all.push_back(Json::parse(text));
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (!all[rank].contains("error")) continue;
    throwError(static_cast<ErrorCode>(all[rank]["code"].get<int>()), "rank {} on {}: {}", rank,
               all[rank]["host"].get<std::string>(), all[rank]["error"].get<std::string>());
  }
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    std::vector<std::string> differences;
    compare({}, &all[0]["facts"], &all[rank]["facts"], differences);
    if (differences.empty()) continue;
    const std::size_t more = differences.size() > kMostTold ? differences.size() - kMostTold : 0;
    differences.resize(differences.size() - more);
    throwError(ErrorCode::communication,
               "rank {} on {} would train something else than rank 0 on {}: {}{}. Bring both to one state", rank,
               all[rank]["host"].get<std::string>(), all[0]["host"].get<std::string>(), fmt::join(differences, "; "),
               more > 0 ? fmt::format("; and {} more", more) : std::string());
  }
}

}  // namespace loom
