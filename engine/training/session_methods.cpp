// What methods and weights to evaluate ask of a session's beginning.
#include <algorithm>

#include "engine/base/error.h"
#include "engine/network/method_check.h"
#include "engine/training/training_session.h"

namespace loom {
namespace {

constexpr std::int64_t kStatisticsBatch = 64;  // at once; the same on any number of ranks

// A slot's name without the update's number.
std::string kindOf(const std::string& slot) {
  return slot.substr(0, slot.find('@'));
}

const MethodDefinition* methodOf(const std::string& slot) {
  for (const MethodDefinition* row : methodTable())
    if (std::find(row->slots.begin(), row->slots.end(), kindOf(slot)) != row->slots.end()) return row;
  return nullptr;
}

std::set<std::string> copiesOf(const std::vector<std::unique_ptr<UpdateRunner>>& updates) {
  std::set<std::string> copies;
  for (const auto& update : updates)
    for (const std::string& slot : update->copies()) copies.insert(slot);
  return copies;
}

}  // namespace

void TrainingSession::refuseMethods() const {
  if (const auto refusal = refusedMethods(m_options.project))
    throwError(ErrorCode::badProject, "training: {}", refusal->text);
}

// For weights that no step has seen, of each network once.
void TrainingSession::makeStatistics() {
  std::set<const Network*> made;
  for (const auto& update : m_updates) {
    if (!update->mayEvaluateOthers() || !made.insert(&update->network()).second) continue;
    const FeedOptions& trained = update->feed().options();
    const std::int64_t atOnce = (m_settings.batch + m_settings.accumulate - 1) / m_settings.accumulate;
    // Of the feed, which lives longer: balanced, where it is.
    const std::shared_ptr<const Dataset> data(std::shared_ptr<const Dataset>(), &update->feed().dataset());
    auto fresh = std::make_unique<FreshStatistics>(
        m_networks, m_store, update->network(),
        std::make_unique<Feed>(data, FeedOptions{.name = trained.name,
                                                 .prepare = trained.prepare,
                                                 .batch = std::min({atOnce, kStatisticsBatch, data->size()}),
                                                 .shuffle = true,
                                                 .random = true,
                                                 .seed = m_settings.seed}));
    if (!fresh->states().empty()) m_statistics.push_back(std::move(fresh));
  }
}

void TrainingSession::beginMissingCopies(const std::vector<std::string>& missing) {
  const std::set<std::string> copies = copiesOf(m_updates);
  for (const std::string& name : missing) {
    const auto [parameter, slot] = parameterAndSlot(name);
    if (copies.contains(slot)) m_store.slot(parameter, slot).copyFrom(m_store.at(parameter).value);
  }
}

bool TrainingSession::sharesSlots() const {
  return std::any_of(m_updates.begin(), m_updates.end(), [](const auto& update) { return update->sharded(); });
}

bool TrainingSession::decidedByFirst(bool mine) const {
  if (!sharesSlots()) return mine;
  std::byte decided{mine};
  m_parallel.communicator.broadcast(std::span(&decided, 1), 0);
  return decided != std::byte{0};
}

SkipsSlot TrainingSession::sharedSlots() const {
  if (!sharesSlots()) return nullptr;
  return [this](std::string_view parameter, std::string_view slot) {
    return std::any_of(m_updates.begin(), m_updates.end(), [&](const auto& update) {
      return update->sharded() && update->sharded()->holds(parameter, slot);
    });
  };
}

// Each rank gets what it keeps from rank 0, which alone has the file. Answers what the file lacks.
std::vector<std::string> TrainingSession::spreadSlots(const std::optional<Checkpoint>& from) {
  std::vector<std::string> missing;
  for (const auto& update : m_updates)
    if (update->sharded())
      for (std::string& name : update->sharded()->spread(
               [&from](const std::string& slot) { return from ? from->slotValues(slot) : std::vector<float>(); }))
        missing.push_back(std::move(name));
  return missing;
}

std::optional<Snapshot> TrainingSession::snapshot(const EvaluatedInPlace* shown) {
  std::vector<ShardedSlots::Slot> elsewhere;
  if (sharesSlots())
    for (const auto& update : m_updates)
      if (update->sharded())
        for (ShardedSlots::Slot& slot : update->sharded()->gather()) elsewhere.push_back(std::move(slot));
  if (!first()) return {};
  Snapshot taken = takeSnapshot(m_store, m_step, position().toJson(), shown);
  for (ShardedSlots::Slot& slot : elsewhere)
    taken.tensors.push_back({std::move(slot.name), std::move(slot.shape), std::move(slot.values)});
  return taken;
}

// Of a checkpoint's slots, what this training keeps and that one did not, and the other way round: a sentence each.
void TrainingSession::tellOtherSlots(const std::vector<std::string>& missing, const std::set<std::string>& had) {
  const auto warn = [this](const std::string& message) {
    tell("warning", {{"message", message}, {"code", "checkpoint"}});
  };
  const std::set<std::string> copies = copiesOf(m_updates);
  const auto isCopy = [&copies](const std::string& slot) { return copies.contains(slot); };
  std::set<std::string> begun, kept;
  for (const std::string& name : missing) {
    const std::string slot = parameterAndSlot(name).second;
    const MethodDefinition* method = methodOf(slot);
    if (!method && slot != kAverageSlot && !isCopy(slot)) {
      warn("the checkpoint has no optimizer state '" + name + "'; it begins at 0");
    } else if (begun.insert(slot).second) {
      const std::string what = slot == kAverageSlot ? "averages of the weights"
                               : method             ? method->keeps
                                                    : fmt::format("optimizer state '{}'", slot);
      warn(fmt::format("the checkpoint has no {}; they begin {}", what,
                       isCopy(slot) ? "at the weights as they are" : "anew"));
    }
  }
  for (const auto& entry : m_store.entries())
    for (const auto& [slot, tensor] : entry->slots) kept.insert(slot);
  for (const auto& update : m_updates)  // other ranks' among them
    for (std::size_t i = 0; i < update->update().slotsOf().size(); ++i) {
      const std::vector<std::string>& slots = update->update().slotsOf()[i];
      kept.insert(slots.begin(), slots.end());
      for (const ProductMatrix& matrix : update->update().matricesOf()[i]) kept.insert(matrix.name);
    }
  for (const std::string& slot : had) {
    if (kept.contains(slot)) continue;
    const MethodDefinition* method = methodOf(slot);
    if (slot == kAverageSlot)
      warn("the averages of the weights are given up: the settings ask for the last weights now");
    else if (method)
      warn(fmt::format("{} are given up: the settings have another method now", method->keeps));
    else
      warn(fmt::format("the optimizer state '{}' is given up: the settings have another rule now", slot));
  }
}

}  // namespace loom
