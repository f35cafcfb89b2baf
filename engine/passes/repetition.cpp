#include "engine/passes/repetition.h"

#include <algorithm>
#include <concepts>
#include <map>
#include <utility>

#include "engine/passes/recomputation.h"

namespace loom {
namespace {

// What a byte that is read or written counts as much as: machines take about as long for so many multiply-adds.
constexpr double kMultiplyAddsPerByte = 16;
constexpr double kSmallBeside = 5;

template <class T>
decltype(auto) at(T& all, std::integral auto index) {
  return all[static_cast<std::size_t>(index)];
}
bool contains(const std::vector<TensorId>& all, TensorId id) {
  return std::find(all.begin(), all.end(), id) != all.end();
}
void addOnce(std::vector<TensorId>& all, TensorId id) {
  if (id != kNoTensor && !contains(all, id)) all.push_back(id);
}

// The operation as it is repeated: itself, or what its op names for it.
Operation repeated(const Operation& operation) {
  Operation again = operation;
  if (operation.op->again == nullptr) return again;
  again.op = &findOp(operation.op->again);
  again.inputs.clear();
  const std::vector<int> updated = updatedInputs(*operation.op, operation.inputs.size(), operation.attributes);
  for (std::size_t i = 0; i < operation.inputs.size(); ++i)
    if (std::find(updated.begin(), updated.end(), static_cast<int>(i)) == updated.end())
      again.inputs.push_back(operation.inputs[i]);
  again.inputs.insert(again.inputs.end(), operation.outputs.begin() + 1, operation.outputs.end());
  again.outputs.resize(1);
  return again;
}

}  // namespace

Repetition::Repetition(const Program& program, const Fusion& fusion)
    : m_program(program),
      m_unitOf(program.operations.size(), -1),
      m_producer(program.tensors.size(), -1),
      m_bytes(program.tensors.size(), 0),
      m_changing(program.tensors.size()),
      m_isResult(program.tensors.size()),
      m_repeatedBy(program.tensors.size(), -1) {
  for (std::size_t i = 0; i < program.tensors.size(); ++i)
    if (const Tensor& tensor = program.tensors[i]; tensor.role == TensorRole::intermediate)
      m_bytes[i] = static_cast<double>(tensor.shape.elements()) * static_cast<double>(bytesOf(tensor.type));
  for (const NamedResult& result : program.results) at(m_isResult, result.tensor) = true;
  for (std::size_t i = 0; i < program.operations.size(); ++i) {
    const Operation& operation = program.operations[i];
    for (const TensorId id : operation.outputs)
      if (id != kNoTensor) at(m_producer, id) = static_cast<int>(i);
    for (const int k : updatedInputs(*operation.op, operation.inputs.size(), operation.attributes))
      at(m_changing, at(operation.inputs, k)) = true;
  }
  findUnits(fusion);
  findReaders();
}

void Repetition::findUnits(const Fusion& fusion) {
  std::vector<int> unitOfLeader(m_program.operations.size(), -1);
  bool late = false;
  for (std::size_t i = 0; i < m_program.operations.size(); ++i) {
    late |= m_program.operations[i].backward;
    int& index = at(unitOfLeader, fusion.computedBy[i]);
    if (index < 0) {
      index = static_cast<int>(m_units.size());
      m_units.emplace_back().late = late;
    }
    m_unitOf[i] = index;
    at(m_units, index).operations.push_back(static_cast<int>(i));
  }
  std::vector<std::vector<TensorId>> read(m_units.size());  // from other units
  std::vector<bool> readByOthers(m_program.tensors.size());
  for (std::size_t i = 0; i < m_program.operations.size(); ++i)
    for (const TensorId id : m_program.operations[i].inputs) {
      if (id == kNoTensor || (at(m_producer, id) >= 0 && at(m_unitOf, at(m_producer, id)) == m_unitOf[i])) continue;
      addOnce(at(m_units, m_unitOf[i]).reads, id);
      at(readByOthers, id) = true;
    }
  for (std::size_t i = 0; i < m_program.operations.size(); ++i)
    for (const TensorId id : m_program.operations[i].outputs)
      if (id != kNoTensor &&
          (at(readByOthers, id) || at(m_isResult, id) || m_program.tensor(id).role != TensorRole::intermediate))
        addOnce(at(m_units, m_unitOf[i]).writes, id);
  for (Unit& unit : m_units) describe(unit);
  for (std::size_t u = 0; u < m_units.size(); ++u)
    for (const TensorId id : m_units[u].again) at(m_repeatedBy, id) = static_cast<int>(u);
}

// A result that is small beside what its operation keeps for its gradient is kept, too: the gates of a recurrent layer
// are then computed again where its own gradient wants them, not where the layer behind it asks for a fifth of their
// size.
void Repetition::keepSmall(Unit& unit) const {
  double largest = 0;
  for (const TensorId id : unit.again) largest = std::max(largest, at(m_bytes, id));
  for (const int index : unit.operations) {
    const TensorId result = at(m_program.operations, index).outputs[0];
    if (!contains(unit.again, result) || at(m_bytes, result) * kSmallBeside > largest) continue;
    std::erase(unit.again, result);
    unit.bytes -= at(m_bytes, result);
  }
}

// What a repetition of the unit would read, give and cost, where there can be one.
void Repetition::describe(Unit& unit) const {
  for (const int index : unit.operations) {
    const Operation& operation = at(m_program.operations, index);
    for (const int k : operation.op->reusable)
      if (contains(unit.reads, at(operation.inputs, k))) addOnce(unit.reusable, at(operation.inputs, k));
  }
  if (unit.writes.empty()) return;
  unit.isView = unit.operations.size() == 1 && at(m_program.operations, unit.operations[0]).op->isView;
  if (unit.late) return;
  std::vector<TensorId> made;
  for (const int index : unit.operations) {
    const Operation& operation = at(m_program.operations, index);
    if (!operation.op->isPure() && operation.op->again == nullptr) return;
    const Operation again = repeated(operation);
    if (again.op->multiplyAdds != nullptr)
      unit.cost += again.op->multiplyAdds(m_program.wideSpecs(again.inputs), m_program.wideSpecs(again.outputs),
                                          again.attributes);
    made.insert(made.end(), again.outputs.begin(), again.outputs.end());
    for (const TensorId id : again.inputs) {
      if (id == kNoTensor || contains(made, id)) continue;
      if (at(m_changing, id)) return;
      addOnce(unit.readsAgain, id);
    }
  }
  double moved = 0;
  for (const TensorId id : unit.readsAgain) moved += at(m_bytes, id);
  for (const TensorId id : unit.writes) {
    if (!contains(made, id)) continue;
    if (at(m_isResult, id) || at(m_changing, id) || m_program.tensor(id).role != TensorRole::intermediate) {
      unit.again.clear();
      return;
    }
    unit.again.push_back(id);
    unit.bytes += at(m_bytes, id);
  }
  keepSmall(unit);
  unit.cost = unit.isView ? 0 : unit.cost + kMultiplyAddsPerByte * (moved + unit.bytes);
}

// Backwards, so that the readers of a view are known before what it is a view of.
void Repetition::findReaders() {
  std::vector<int> last(m_program.tensors.size(), -1);
  std::vector<bool> late(m_program.tensors.size());
  for (int u = static_cast<int>(m_units.size()) - 1; u >= 0; --u) {
    const Unit& one = unit(u);
    for (const TensorId id : one.reads) {
      if (one.late) {
        at(late, id) = true;
      } else if (one.isView && !one.writes.empty()) {
        at(last, id) = std::max({at(last, id), at(last, one.writes[0]), u});
        if (at(late, one.writes[0])) at(late, id) = true;
      } else {
        at(last, id) = std::max(at(last, id), u);
      }
    }
  }
  m_lastReader.assign(m_units.size(), -1);
  m_readLate.assign(m_units.size(), false);
  for (std::size_t u = 0; u < m_units.size(); ++u)
    for (const TensorId id : m_units[u].again) {
      m_lastReader[u] = std::max(m_lastReader[u], at(last, id));
      if (at(late, id)) m_readLate[u] = true;
    }
}

Repetition::Chosen Repetition::effective(const Chosen& chosen) const {
  Chosen all(m_units.size());
  for (std::size_t u = 0; u < m_units.size(); ++u) {
    const Unit& one = m_units[u];
    if (!one.again.empty()) all[u] = one.isView ? isRepeated(one.reads[0], all) : static_cast<bool>(chosen[u]);
  }
  return all;
}

// What must run before somebody reads `id` in the backward part.
void Repetition::require(TensorId id, const Chosen& effective, std::vector<bool>& done,
                         std::vector<Step>& steps) const {
  if (!isRepeated(id, effective)) return;
  const int index = at(m_repeatedBy, id);
  if (at(done, index)) return;
  at(done, index) = true;
  for (const TensorId input : unit(index).readsAgain) require(input, effective, done, steps);
  steps.push_back({index, true});
}

std::vector<Repetition::Step> Repetition::order(const Chosen& effective) const {
  std::vector<Step> steps;
  std::vector<bool> done(m_units.size());
  for (std::size_t u = 0; u < m_units.size(); ++u) {
    if (m_units[u].late)
      for (const TensorId id : m_units[u].reads) require(id, effective, done, steps);
    steps.push_back({static_cast<int>(u), false});
  }
  return steps;
}

Repetition::Outlook Repetition::outlook(const Chosen& chosen) const {
  const Chosen all = effective(chosen);
  const std::vector<Step> steps = order(all);
  // A tensor has two places, kept and repeated; a view stands in that of its source.
  const std::size_t tensors = m_program.tensors.size();
  std::vector<int> place(2 * tensors, -1), first(2 * tensors, -1), last(2 * tensors, -1);
  const auto slot = [&](TensorId id, bool again) { return static_cast<std::size_t>(id) + (again ? tensors : 0); };
  const auto readSlot = [&](TensorId id, const Step& step) {
    return slot(id, (step.again || unit(step.unit).late) && isRepeated(id, all));
  };
  Outlook outlook;
  const int count = static_cast<int>(steps.size());
  for (int s = 0; s < count; ++s) {
    const Step& step = at(steps, s);
    const Unit& one = unit(step.unit);
    const auto& reads = step.again ? one.readsAgain : one.reads;
    for (const TensorId id : reads)
      if (const int stands = place[readSlot(id, step)]; stands >= 0) at(last, stands) = s;
    for (const TensorId id : step.again ? one.again : one.writes) {
      const std::size_t mine = slot(id, step.again);
      place[mine] = one.isView ? place[readSlot(reads[0], step)] : at(m_bytes, id) > 0 ? static_cast<int>(mine) : -1;
      if (place[mine] == static_cast<int>(mine)) first[mine] = last[mine] = s;
    }
    if (step.again) outlook.cost += one.cost;
  }
  for (const NamedResult& result : m_program.results)
    if (const int stands = place[slot(result.tensor, false)]; stands >= 0) at(last, stands) = count - 1;
  for (int s = 0; s < count; ++s) {
    const Step& step = at(steps, s);
    const Unit& one = unit(step.unit);
    if (one.isView || one.writes.empty()) continue;
    for (const TensorId id : one.reusable) {
      const int stands = place[readSlot(id, step)];
      if (stands < 0 || at(last, stands) != s || at(first, stands) >= s ||
          m_bytes[static_cast<std::size_t>(stands) % tensors] != at(m_bytes, one.writes[0]))
        continue;
      at(last, stands) = s - 1;
      break;
    }
  }
  std::vector<double> change(static_cast<std::size_t>(count) + 1, 0);
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (first[i] < 0) continue;
    at(change, first[i]) += m_bytes[i % tensors];
    at(change, last[i] + 1) -= m_bytes[i % tensors];
  }
  double alive = 0;
  for (const double delta : change) outlook.peak = std::max(outlook.peak, alive += delta);
  return outlook;
}

Program Repetition::rewritten(const Chosen& chosen) const {
  const Chosen all = effective(chosen);
  std::vector<std::vector<int>> before(m_units.size());  // units that are repeated in front of this one
  std::vector<int> waiting;
  for (const Step& step : order(all)) {
    if (step.again)
      waiting.push_back(step.unit);
    else
      at(before, step.unit) = std::exchange(waiting, {});
  }
  Program made = m_program;
  made.operations.clear();
  std::vector<TensorId> copies(m_program.tensors.size(), kNoTensor);
  std::int64_t number = 0;
  const auto repeat = [&](const Unit& one) {
    std::map<TensorId, TensorId> mine;
    ++number;
    for (const int index : one.operations) {
      Operation again = repeated(at(m_program.operations, index));
      for (TensorId& id : again.inputs) {
        if (id == kNoTensor) continue;
        if (const auto found = mine.find(id); found != mine.end())
          id = found->second;
        else if (at(copies, id) != kNoTensor)
          id = at(copies, id);
      }
      for (TensorId& id : again.outputs) {
        if (id == kNoTensor) continue;
        made.tensors.push_back(m_program.tensor(id));
        id = mine[id] = static_cast<TensorId>(made.tensors.size() - 1);
      }
      again.attributes.set(kRecomputed, number);
      again.backward = true;
      made.operations.push_back(std::move(again));
    }
    for (const TensorId id : one.again) at(copies, id) = mine.at(id);
  };
  for (std::size_t i = 0; i < m_program.operations.size(); ++i) {
    const Unit& one = unit(m_unitOf[i]);
    if (one.operations[0] == static_cast<int>(i))
      for (const int index : at(before, m_unitOf[i])) repeat(unit(index));
    Operation operation = m_program.operations[i];
    if (one.late)
      for (TensorId& id : operation.inputs)
        if (id != kNoTensor && at(copies, id) != kNoTensor) id = at(copies, id);
    made.operations.push_back(std::move(operation));
  }
  return made;
}

}  // namespace loom
