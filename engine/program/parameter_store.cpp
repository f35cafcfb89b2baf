#include "engine/program/parameter_store.h"

#include <algorithm>
#include <thread>

#include "engine/base/error.h"
#include "engine/program/initial_value.h"

namespace loom {
namespace {

std::vector<float> initialValues(const Parameter& parameter, std::uint64_t seed) {
  const Philox random(seed, parameter.name);
  std::vector<float> values(static_cast<std::size_t>(parameter.shape.elements()));
  const auto fill = [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i)
      values[i] = static_cast<float>(initialValue(parameter.initializer, random, i));
  };
  // A network of 60 million weights takes seconds on one thread.
  constexpr std::size_t kPiece = std::size_t{1} << 18;
  const std::size_t pieces =
      std::clamp<std::size_t>(values.size() / kPiece, 1, std::thread::hardware_concurrency() + 1);
  std::vector<std::thread> helpers;
  for (std::size_t piece = 1; piece < pieces; ++piece)
    helpers.emplace_back(fill, values.size() * piece / pieces, values.size() * (piece + 1) / pieces);
  fill(0, values.size() / pieces);
  for (std::thread& helper : helpers) helper.join();
  return values;
}

}  // namespace

void ParameterStore::ensure(const std::vector<Parameter>& parameters) {
  for (const Parameter& parameter : parameters) {
    if (has(parameter.name)) {
      const Parameter& known = at(parameter.name).parameter;
      if (known.shape != parameter.shape)
        throwError(ErrorCode::badProject,
                   "the parameter '{}' is {} here, but the store holds it as {}: the network has changed since",
                   parameter.name, parameter.shape.toString(), known.shape.toString());
      if (known.isState != parameter.isState)
        throwError(ErrorCode::badProject, "'{}' is a {} here, but the store holds it as a {}", parameter.name,
                   parameter.isState ? "state" : "weight", known.isState ? "state" : "weight");
      continue;
    }
    auto entry = std::make_unique<Entry>();
    entry->parameter = parameter;
    entry->value = StoredTensor(*m_memory, parameter.shape.elements());
    if (!parameter.isState) entry->gradient = StoredTensor(*m_memory, parameter.shape.elements());
    if (parameter.initializer.kind != InitializerKind::zeros) entry->value.write(initialValues(parameter, m_seed));
    m_byName.emplace(parameter.name, entry.get());
    m_entries.push_back(std::move(entry));
  }
}

StoredTensor& ParameterStore::slot(std::string_view parameter, std::string_view slot) {
  Entry& entry = at(parameter);
  if (const auto found = entry.slots.find(slot); found != entry.slots.end()) return found->second;
  return entry.slots.emplace(slot, StoredTensor(*m_memory, entry.parameter.shape.elements())).first->second;
}

StoredTensor& ParameterStore::gradient(std::string_view parameter) {
  Entry& entry = at(parameter);
  if (entry.gradient.empty()) entry.gradient = StoredTensor(*m_memory, entry.parameter.shape.elements());
  return entry.gradient;
}

bool ParameterStore::has(std::string_view name) const {
  return m_byName.find(name) != m_byName.end();
}

const ParameterStore::Entry& ParameterStore::at(std::string_view name) const {
  const auto found = m_byName.find(name);
  if (found == m_byName.end())
    throwError(ErrorCode::internal, "the parameter store holds no '{}' among its {} tensors", name, m_entries.size());
  return *found->second;
}

ParameterStore::Entry& ParameterStore::at(std::string_view name) {
  return const_cast<Entry&>(static_cast<const ParameterStore&>(*this).at(name));
}

std::int64_t ParameterStore::parameterCount() const {
  std::int64_t count = 0;
  for (const auto& entry : m_entries)
    if (!entry->parameter.isState) count += entry->value.elements();
  return count;
}

}  // namespace loom
