#include "engine/program/parameter_store.h"

#include <cstring>
#include <new>

#include "engine/base/error.h"
#include "engine/base/philox.h"

namespace loom {
namespace {

constexpr std::size_t kAlignment = 64;

void initialise(std::span<float> values, const Parameter& parameter, std::uint64_t seed) {
  const Philox random(seed, parameter.name);
  const double scale = parameter.initializer.scale;
  for (std::size_t i = 0; i < values.size(); ++i) {
    switch (parameter.initializer.kind) {
      case InitializerKind::zeros:
        values[i] = 0;
        break;
      case InitializerKind::ones:
        values[i] = 1;
        break;
      case InitializerKind::constant:
        values[i] = static_cast<float>(scale);
        break;
      case InitializerKind::normal:
        values[i] = static_cast<float>(scale * random.normal(i));
        break;
      case InitializerKind::uniform:
        values[i] = static_cast<float>(scale * (2 * random.uniform(i) - 1));
        break;
    }
  }
}

}  // namespace

ParameterStore::~ParameterStore() {
  for (void* block : m_blocks) ::operator delete (block, std::align_val_t{kAlignment});
}

std::span<float> ParameterStore::allocate(std::int64_t elements) {
  const auto count = static_cast<std::size_t>(elements);
  // Whole cache lines, so that no two tensors share one between threads and a vector loop may read to the line's end.
  const std::size_t bytes =
      std::max<std::size_t>((count * sizeof(float) + kAlignment - 1) / kAlignment * kAlignment, kAlignment);
  m_blocks.reserve(m_blocks.size() + 1);
  void* block = nullptr;
  try {
    block = ::operator new (bytes, std::align_val_t{kAlignment});
  } catch (const std::bad_alloc&) {
    throwError(ErrorCode::device, "no memory for a tensor of {} bytes of the parameter store", bytes);
  }
  m_blocks.push_back(block);
  std::memset(block, 0, bytes);
  return {static_cast<float*>(block), count};
}

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
    entry->value = allocate(parameter.shape.elements());
    if (!parameter.isState) entry->gradient = allocate(parameter.shape.elements());
    initialise(entry->value, parameter, m_seed);
    m_byName.emplace(parameter.name, entry.get());
    m_entries.push_back(std::move(entry));
  }
}

std::span<float> ParameterStore::slot(std::string_view parameter, std::string_view slot) {
  Entry& entry = at(parameter);
  if (const auto found = entry.slots.find(slot); found != entry.slots.end()) return found->second;
  return entry.slots.emplace(slot, allocate(entry.parameter.shape.elements())).first->second;
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

void ParameterStore::zeroGradients() {
  for (const auto& entry : m_entries) std::fill(entry->gradient.begin(), entry->gradient.end(), 0.0f);
}

std::int64_t ParameterStore::parameterCount() const {
  std::int64_t count = 0;
  for (const auto& entry : m_entries)
    if (!entry->parameter.isState) count += static_cast<std::int64_t>(entry->value.size());
  return count;
}

}  // namespace loom
