#include "engine/cuda/executable.h"

#include <algorithm>
#include <cstring>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/cuda/kernels/convert.h"
#include "engine/passes/passes.h"
#include "engine/program/out_of_memory.h"

namespace loom::cuda {
namespace {

std::size_t bytesIn(const Tensor& tensor) {
  return static_cast<std::size_t>(tensor.shape.elements()) * bytesOf(tensor.type);
}

constexpr std::size_t kLine = 64;
std::size_t lines(std::size_t bytes) {
  return (bytes + kLine - 1) / kLine * kLine;
}

void prepare(Program& program, const CompileOptions& options) {
  simplify(program);
  if (options.precision != DataType::f32)
    keepInSixteenBits(program, options.precision,
                      [&program](const Operation& one) { return inSixteenBits(program, one); });
}

}  // namespace

StepCost CudaExecutable::cost(Program program, Device& device, const CompileOptions& options) {
  prepare(program, options);
  ParameterStore store(program.seed, makeAbsentMemory());
  store.ensure(program.parameters);
  Plan plan(program, store, device, options);
  StepCost cost;
  for (const Tensor& tensor : program.tensors)
    if (tensor.role == TensorRole::input) cost.uploaded += static_cast<double>(bytesIn(tensor));
  plan.lowerAll();
  cost.stages = plan.costs();
  cost.memory = plan.measure();
  return cost;
}

CudaExecutable::CudaExecutable(Program program, ParameterStore& store, std::shared_ptr<Device> device,
                               std::shared_ptr<DeviceBlock>& arena, const CompileOptions& options)
    : m_device(std::move(device)), m_program(std::move(program)), m_precision(options.precision) {
  prepare(m_program, options);
  store.ensure(m_program.parameters);
  m_plan = std::make_unique<Plan>(m_program, store, *m_device, options);
  std::size_t staged = 0;
  for (std::size_t i = 0; i < m_program.tensors.size(); ++i) {
    const Tensor& tensor = m_program.tensors[i];
    if (tensor.role == TensorRole::scalar) scalarOf({}, tensor.name);  // throws for one that there is not
    if (tensor.role != TensorRole::input) continue;
    const auto id = static_cast<TensorId>(i);
    m_inputs.push_back({id, staged, bytesIn(tensor), m_plan->read(id)});
    staged += lines(bytesIn(tensor));
  }
  const Operand scalars = m_plan->scalars();
  m_scalars = {kNoTensor, staged, scalars.bytes, scalars};
  staged += lines(scalars.bytes);
  m_plan->lowerAll();
  std::size_t resultBytes = 0;
  for (const NamedResult& result : m_program.results) {
    const Tensor& tensor = m_program.tensor(result.tensor);
    m_results.push_back({result.tensor, resultBytes, bytesIn(tensor), m_plan->read(result.tensor)});
    resultBytes += lines(bytesIn(tensor));
  }
  m_compiled = m_plan->finish([&](const BufferPlan::Extent& extent) {
    const bool grows = !arena || arena->bytes() < extent.shared;
    try {
      m_lasting = std::make_unique<DeviceBlock>(m_device, extent.lasting, "inputs and results");
      if (grows) arena = std::make_shared<DeviceBlock>(m_device, extent.shared, "activations");
    } catch (OutOfMemory& error) {
      error.asked = extent.lasting + (grows ? extent.shared : 0);
      error.free += m_lasting ? m_lasting->bytes() : 0;
      throw;
    }
    m_arena = arena;
    return std::pair(m_arena->data(), m_lasting->data());
  });
  for (Slot& slot : m_slots) {
    slot.pinned = std::make_unique<PinnedBlock>(m_device, staged);
    slot.uploaded = m_device->makeEvent();
  }
  m_resultBytes = std::make_unique<PinnedBlock>(m_device, resultBytes);
  m_done = m_device->makeEvent();
  m_updated = updatedTensors(store, m_program);
  writeConstants(m_compiled);
  m_compiled.constants.clear();
}

CudaExecutable::~CudaExecutable() {
  try {
    for (const Stream stream : {Stream::upload, Stream::compute}) m_device->synchronise(stream);
  } catch (const std::exception&) {
    // A device that is lost has told it to whoever used it last.
  }
}

void CudaExecutable::writeConstants(const Plan::Result& compiled) {
  for (const auto& [operand, content] : compiled.constants) {
    if (content.empty()) continue;
    const PinnedBlock staging(m_device, content.size());
    std::memcpy(staging.data(), content.data(), content.size());
    m_device->upload(Stream::compute, staging.data(), operand.address(), content.size());
    m_device->synchronise(Stream::compute);
  }
}

std::span<std::byte> CudaExecutable::input(std::string_view name) {
  for (const Transfer& input : m_inputs) {
    if (m_program.tensor(input.tensor).name != name) continue;
    const Slot& slot = m_slots[m_slot];
    if (slot.used) m_device->synchronise(*slot.uploaded);
    return {slot.pinned->data() + input.at, input.bytes};
  }
  throwError(ErrorCode::internal, "the program has no input '{}'", name);
}

void CudaExecutable::writeScalars(const StepOptions& options) {
  std::byte* line = m_slots[m_slot].pinned->data() + m_scalars.at;
  const auto put = [&](auto value) {
    std::memcpy(line, &value, sizeof(value));
    line += kScalarLine;
  };
  for (const Tensor& tensor : m_program.tensors) {
    if (tensor.role != TensorRole::scalar) continue;
    double value = scalarOf(options, tensor.name);
    if (tensor.name == kLossScaleScalar) value *= options.gradientScale;
    if (tensor.type == DataType::f64)
      put(value);
    else if (tensor.type == DataType::i64)
      put(static_cast<std::int64_t>(value));
    else
      put(static_cast<float>(value));
  }
  put(DeliveryWords{options.accumulate ? 1 : 0, static_cast<float>(1 / options.gradientScale)});
}

// What the step before still reads is not overwritten: the upload waits for it.
void CudaExecutable::upload() {
  Slot& slot = m_slots[m_slot];
  if (m_runs > 0) m_device->wait(Stream::upload, *m_done);
  for (const Transfer& input : m_inputs)
    if (input.bytes != 0)
      m_device->upload(Stream::upload, slot.pinned->data() + input.at, input.device.address(), input.bytes);
  m_device->upload(Stream::upload, slot.pinned->data() + m_scalars.at, m_scalars.device.address(), m_scalars.bytes);
  m_device->record(Stream::upload, *slot.uploaded);
  slot.used = true;
  m_device->wait(Stream::compute, *slot.uploaded);
}

void CudaExecutable::enqueueStages() {
  for (const Stage& stage : m_compiled.stages)
    m_device->enqueue(Stream::compute, stage.call, stage.accesses, stage.origin);
  for (const Transfer& result : m_results)
    if (result.bytes != 0)
      m_device->download(Stream::compute, result.device.address(), m_resultBytes->data() + result.at, result.bytes);
}

void CudaExecutable::run(const StepOptions& options) {
  const Slot& slot = m_slots[m_slot];
  if (slot.used) m_device->synchronise(*slot.uploaded);  // also where the program has no inputs to ask for
  for (const Plan::Guard& guard : m_compiled.guards)
    for (const Transfer& input : m_inputs)
      if (input.tensor == guard.input) guard.check({slot.pinned->data() + input.at, input.bytes});
  writeScalars(options);
  upload();
  // The first step loads kernels and plans lazily, which no capture allows; the second is captured, all others replay.
  if (m_runs == 0) {
    enqueueStages();
  } else {
    if (!m_graph) {
      m_device->beginCapture(Stream::compute);
      enqueueStages();
      m_graph = m_device->endCapture(Stream::compute);
    }
    m_device->launch(*m_graph, Stream::compute);
  }
  m_device->record(Stream::compute, *m_done);
  ++m_runs;
  m_slot = 1 - m_slot;
  for (StoredTensor* tensor : m_updated) tensor->changed();
}

const CudaExecutable::Transfer& CudaExecutable::result(std::string_view name) const {
  for (std::size_t i = 0; i < m_results.size(); ++i)
    if (m_program.results[i].name == name) return m_results[i];
  throwError(ErrorCode::internal, "the program has no result '{}'", name);
}

void CudaExecutable::waitForResults() const {
  if (m_runs == 0) throwError(ErrorCode::internal, "a result is read before the first step");
  m_device->synchronise(*m_done);
}

double CudaExecutable::scalarResult(std::string_view name) const {
  const Transfer& found = result(name);
  const Shape& shape = m_program.tensor(found.tensor).shape;
  if (shape.elements() != 1)
    throwError(ErrorCode::internal, "result '{}' is {}, not a scalar", name, shape.toString());
  double value = 0;
  copyResult(name, std::span(&value, 1));
  return value;
}

void CudaExecutable::readResult(std::string_view name, std::span<float> to) const {
  copyResult(name, to);
}

void CudaExecutable::readResult(std::string_view name, std::span<double> to) const {
  copyResult(name, to);
}

template <class T>
void CudaExecutable::copyResult(std::string_view name, std::span<T> to) const {
  const Transfer& found = result(name);
  const Tensor& tensor = m_program.tensor(found.tensor);
  const auto elements = static_cast<std::size_t>(tensor.shape.elements());
  if (to.size() != elements)
    throwError(ErrorCode::internal, "result '{}' has {} numbers, but there is room for {}", name, elements, to.size());
  waitForResults();
  const std::byte* from = m_resultBytes->data() + found.at;
  const auto convert = [&]<class S>(const S* numbers) {
    std::transform(numbers, numbers + elements, to.begin(), [](S value) { return static_cast<T>(value); });
  };
  if (tensor.type == DataType::i32)
    convert(reinterpret_cast<const std::int32_t*>(from));
  else if (tensor.type == DataType::f64)
    convert(reinterpret_cast<const double*>(from));
  else
    convert(reinterpret_cast<const float*>(from));
}

Json CudaExecutable::describe() const {
  Json all = Json::array();
  for (const Stage& stage : m_compiled.stages)
    all.push_back({{"kernel", stage.kernel},
                   {"implementation", stage.implementation},
                   {"layout", stage.layout},
                   {"origin", stage.origin}});
  return {{"backend", "cuda"},
          {"device", m_device->facts().name},
          {"precision", toString(m_precision)},
          {"arena_bytes", m_compiled.bytes.shared + m_compiled.bytes.lasting},
          {"lasting_bytes", m_compiled.bytes.lasting},
          {"reorders", m_compiled.conversions},
          {"operations", std::move(all)}};
}

}  // namespace loom::cuda
