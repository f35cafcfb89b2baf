#include "engine/training/feed.h"

#include <algorithm>
#include <cstring>

#include "engine/base/error.h"
#include "engine/network/column_check.h"
#include "engine/training/image_input.h"

namespace loom {
namespace {

std::string namesOf(const Schema& schema) {
  std::string names;
  for (const Variable& variable : schema.variables) names += (names.empty() ? "" : ", ") + variable.name;
  return names;
}

}  // namespace

Feed::Feed(std::shared_ptr<const Dataset> dataset, FeedOptions options)
    : m_dataset(std::move(dataset)), m_options(std::move(options)) {
  if (m_dataset->size() < 1) throwError(ErrorCode::badData, "dataset '{}' has no rows", m_options.name);
}

std::string Feed::variableOf(const Network& network, const std::string& input) {
  const Node* node = network.find(input);
  if (node && node->values.is_object())
    if (const auto found = node->values.find("variable"); found != node->values.end() && found->is_string())
      return found->get<std::string>();
  return input;
}

void Feed::takeBytes(const Network& network, Program& program) const {
  const auto tensors = static_cast<TensorId>(program.tensors.size());
  for (TensorId id = 0; id < tensors; ++id) {
    const Tensor tensor = program.tensor(id);
    if (tensor.role != TensorRole::input || tensor.type != DataType::f32) continue;
    const Variable* variable = m_dataset->schema().find(variableOf(network, tensor.name));
    if (variable == nullptr || !comesAsBytes(*variable)) continue;
    const Preparation preparation(*variable, m_options.prepare, m_options.random, m_options.seed);
    if (preparation.computes()) continue;                               // pixels are computed by the loader alone
    if (isRegrouped(preparation.shape(), tensor.shape.withoutFirst()))  // else bind() tells it
      loom::takeBytes(program, id, *variable, preparation, m_options.seed);
  }
}

std::vector<Feed::Binding> Feed::bind(const Network& network, const Program& program) {
  std::vector<Binding> bindings;
  const Schema& schema = m_dataset->schema();
  for (const Tensor& tensor : program.tensors) {
    if (tensor.role != TensorRole::input) continue;
    if (tensor.name == kSamplesInput) {
      bindings.push_back({.input = tensor.name, .column = 0, .bytesPerSample = 0});
      continue;
    }
    LoaderColumn column{
        .variable = variableOf(network, tensor.name), .shape = tensor.shape.withoutFirst(), .type = tensor.type};
    const Variable* variable = schema.find(column.variable);
    if (!variable)
      throwError(ErrorCode::badData,
                 "network '{}': the input '{}' takes the variable '{}', but dataset '{}' has {}; set the input's field "
                 "\"variable\" to one "
                 "of these",
                 network.name, tensor.name, column.variable, m_options.name, namesOf(schema));
    const Shape prepared = column.type == DataType::u8 ? variable->shape : preparedShape(*variable, m_options.prepare);
    if (!isRegrouped(prepared, column.shape))
      throwError(ErrorCode::badData,
                 "network '{}': the input '{}' is {} ({} values), but the variable '{}' of dataset '{}' is {} ({} "
                 "values) after preparation{}",
                 network.name, tensor.name, column.shape.toString(), column.shape.elements(), column.variable,
                 m_options.name, prepared.toString(), prepared.elements(),
                 prepared.elements() == column.shape.elements()
                     ? ": as many, but in another order; give them its shape, pictures by the step Resize"
                     : "");
    const auto same = [&column](const LoaderColumn& other) {
      return other.variable == column.variable && other.shape == column.shape && other.type == column.type;
    };
    auto place = std::find_if(m_columns.begin(), m_columns.end(), same);
    if (place == m_columns.end()) place = m_columns.insert(m_columns.end(), column);
    bindings.push_back({.input = tensor.name,
                        .column = static_cast<std::size_t>(place - m_columns.begin()),
                        .bytesPerSample = static_cast<std::size_t>(column.shape.elements()) * bytesOf(column.type)});
  }
  return bindings;
}

void Feed::start(std::int64_t epoch, std::int64_t sample) {
  m_epoch = epoch;
  m_sample = sample;
  m_loader = makeLoader(m_dataset, {.columns = m_columns,
                                    .prepare = m_options.prepare,
                                    .batch = m_options.batch,
                                    .shuffle = m_options.shuffle,
                                    .random = m_options.random,
                                    .dropLast = m_options.dropLast,
                                    .seed = m_options.seed,
                                    .epoch = epoch,
                                    .sample = sample,
                                    .threads = m_options.threads,
                                    .parts = m_options.parts,
                                    .partBegin = m_options.partBegin,
                                    .partEnd = m_options.partEnd});
}

const Batch& Feed::next() {
  try {
    m_batch = &m_loader->next();
  } catch (Error& error) {
    error.addContext("in dataset '" + m_options.name + "'");
    throw;
  }
  m_epoch = m_batch->lastOfEpoch ? m_batch->epoch + 1 : m_batch->epoch;
  m_sample = m_batch->lastOfEpoch ? 0 : m_batch->first + m_batch->size;
  return *m_batch;
}

void Feed::goBack(std::int64_t epoch, std::int64_t first) {
  if (m_batch->epoch == epoch && m_batch->first == first) return;
  start(epoch, first);
  next();
}

void Feed::fill(Executable& executable, const std::vector<Binding>& bindings, std::int64_t first,
                std::int64_t count) const {
  for (const Binding& binding : bindings) {
    const std::span<std::byte> to = executable.input(binding.input);
    if (binding.input == kSamplesInput) {
      auto* const numbers = reinterpret_cast<std::int64_t*>(to.data());
      for (std::int64_t i = 0; i < count; ++i) {
        numbers[2 * i] = m_batch->rows[static_cast<std::size_t>(first - m_batch->partFirst + i)];
        numbers[2 * i + 1] = m_batch->epoch;
      }
      continue;
    }
    const std::span<const std::byte> from = m_batch->columns[binding.column];
    const std::size_t bytes = static_cast<std::size_t>(count) * binding.bytesPerSample;
    const std::size_t offset = static_cast<std::size_t>(first - m_batch->partFirst) * binding.bytesPerSample;
    if (first < m_batch->partFirst || to.size() != bytes || offset + bytes > from.size())
      throwError(ErrorCode::internal, "input '{}' takes {} bytes, but {} of {} are given", binding.input, to.size(),
                 bytes, from.size());
    std::memcpy(to.data(), from.data() + offset, bytes);
  }
}

std::int64_t Feed::samplesPerEpoch(std::int64_t batch) const {
  return m_options.dropLast ? size() / batch * batch : size();
}

std::int64_t Feed::stepsPerEpoch(std::int64_t batch) const {
  return (samplesPerEpoch(batch) + batch - 1) / batch;
}

std::int64_t Feed::smallestBatch(std::int64_t batch) const {
  const std::int64_t rest = samplesPerEpoch(batch) % batch;
  return rest > 0 ? rest : std::min(batch, samplesPerEpoch(batch));
}

void Feed::setBatch(std::int64_t batch) {
  m_options.batch = batch;
  if (m_loader) m_loader->setBatch(batch);
}

}  // namespace loom
