#include "engine/cuda/executable.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/cuda/kernels/convert.h"
#include "engine/passes/passes.h"
#include "engine/passes/recomputation.h"
#include "engine/program/absent_store.h"
#include "engine/program/out_of_memory.h"

namespace loom::cuda {
namespace {

std::size_t bytesIn(const Tensor& tensor) {
  return static_cast<std::size_t>(tensor.shape.elements()) * bytesOf(tensor.type);
}

// As it is laid out, with nothing allocated.
StepCost costOf(const Program& program, Device& device, const CompileOptions& options) {
  const auto store = absentStoreOf(program);
  Plan plan(program, *store, device, options);
  const auto fed = static_cast<double>(plan.fed().place.bytes);
  plan.lowerAll();
  StepCost cost{.stages = plan.costs(), .memory = plan.measure(), .uploaded = fed};
  cost.stages.insert(cost.stages.begin(), {.op = "inputs", .kernel = "copy", .read = fed, .written = fed});
  return cost;
}

Recomputation prepare(Program& program, Device& device, const CompileOptions& options) {
  simplify(program);
  if (options.precision != DataType::f32)
    keepInSixteenBits(program, options.precision,
                      [&program](const Operation& one) { return inSixteenBits(program, one); });
  if (options.memoryBudget == 0) return {};
  const auto arenaOf = [&](const Program& one) { return costOf(one, device, options).memory.shared; };
  const Recomputation told =
      recomputeWithin(program, {.budget = options.memoryBudget,
                                .joinsOf = [&program](const Operation& one) { return joinsOf(program, one); },
                                .arenaOf = arenaOf});
  if (options.recomputation != nullptr) *options.recomputation = told;
  return told;
}

}  // namespace

StepCost CudaExecutable::cost(Program program, Device& device, const CompileOptions& options) {
  prepare(program, device, options);
  return costOf(program, device, options);
}

CudaExecutable::CudaExecutable(Program program, ParameterStore& store, std::shared_ptr<Device> device,
                               std::shared_ptr<DeviceBlock>& arena, const CompileOptions& options)
    : m_device(std::move(device)), m_program(std::move(program)), m_precision(options.precision) {
  m_recomputation = prepare(m_program, *m_device, options);
  store.ensure(m_program.parameters);
  m_plan = std::make_unique<Plan>(m_program, store, *m_device, options);
  for (std::size_t i = 0; i < m_program.tensors.size(); ++i) {
    const Tensor& tensor = m_program.tensors[i];
    if (tensor.role == TensorRole::scalar) scalarOf({}, tensor.name);  // throws for one that there is not
    if (tensor.role != TensorRole::input) continue;
    const auto id = static_cast<TensorId>(i);
    m_inputs.push_back({id, m_plan->placeInFed(id), bytesIn(tensor)});
  }
  m_fed = m_plan->fed();
  m_plan->lowerAll();
  std::size_t resultBytes = 0;
  for (const NamedResult& result : m_program.results) {
    const Tensor& tensor = m_program.tensor(result.tensor);
    m_results.push_back({result.tensor, resultBytes, bytesIn(tensor), m_plan->read(result.tensor)});
    resultBytes += inLines(bytesIn(tensor));
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
    slot.fed = std::make_unique<PinnedBlock>(m_device, m_fed.place.bytes);
    slot.uploaded = m_device->makeEvent();
    slot.results = std::make_unique<PinnedBlock>(m_device, resultBytes);
    slot.done = m_device->makeEvent();
  }
  m_taken = m_device->makeEvent();
  m_updated = updatedTensors(store, m_program);
  m_queue = std::make_unique<StageQueue>(m_device, m_compiled.stages);
  writeConstants(m_compiled);
  m_compiled.constants.clear();
}

CudaExecutable::~CudaExecutable() {
  try {
    for (const Stream stream : {Stream::upload, Stream::compute, Stream::exchange}) m_device->synchronise(stream);
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
  for (const Input& input : m_inputs) {
    if (m_program.tensor(input.tensor).name != name) continue;
    const Slot& slot = next();
    if (slot.used) m_device->synchronise(*slot.uploaded);
    return {slot.fed->data() + input.at, input.bytes};
  }
  throwError(ErrorCode::internal, "the program has no input '{}'", name);
}

void CudaExecutable::writeScalars(const StepOptions& options) {
  std::byte* line = next().fed->data() + m_fed.scalarsAt;
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

// Up to the landing, which the step before has left by then; from there within the device, behind the step before.
void CudaExecutable::upload() {
  Slot& slot = next();
  std::byte *const landing = m_fed.landing.address(), *const place = m_fed.place.address();
  const std::size_t bytes = m_fed.place.bytes;
  if (m_newest > 0) m_device->wait(Stream::upload, *m_taken);
  m_device->upload(Stream::upload, slot.fed->data(), landing, bytes);
  m_device->record(Stream::upload, *slot.uploaded);
  slot.used = true;
  m_device->wait(Stream::compute, *slot.uploaded);
  const Access accesses[] = {{place, bytes, true}, {landing, bytes, false}};
  m_device->enqueue(Stream::compute, CopyCall{landing, place, bytes}, accesses, "");
  m_device->record(Stream::compute, *m_taken);
}

// The first step loads kernels and plans lazily, and ranks connect, which no capture allows; the second is captured,
// all others replay. An exchange between ranks is captured on all of them or on none.
void CudaExecutable::begin(const StepOptions& options) {
  const bool gradients = options.exchange && m_queue->exchanges();
  Repeated& alike = m_repeated[gradients ? 1 : 0];
  const bool anew = m_queue->needsHost() || !m_device->captures() || (m_queue->exchanges() && !options.everywhere);
  if (anew || !std::exchange(alike.hasRun, true)) {
    m_queue->enqueue(gradients);
  } else {
    if (!alike.graph) {
      m_device->beginCapture(Stream::compute);
      m_queue->enqueue(gradients);
      alike.graph = m_device->endCapture(Stream::compute);
    }
    m_device->launch(*alike.graph, Stream::compute);
  }
}

void CudaExecutable::download() {
  const Slot& slot = next();
  for (const Result& result : m_results)
    if (result.bytes != 0)
      m_device->download(Stream::compute, result.device.address(), slot.results->data() + result.at, result.bytes);
  m_device->record(Stream::compute, *slot.done);
}

StepNumber CudaExecutable::run(const StepOptions& options) {
  const Slot& slot = next();
  if (slot.used) m_device->synchronise(*slot.uploaded);  // also where the program has no inputs to ask for
  for (const Plan::Guard& guard : m_compiled.guards)
    for (const Input& input : m_inputs)
      if (input.tensor == guard.input) guard.check({slot.fed->data() + input.at, input.bytes});
  writeScalars(options);
  upload();
  begin(options);
  download();
  for (StoredTensor* tensor : m_updated) tensor->changed();
  return ++m_newest;
}

const CudaExecutable::Result& CudaExecutable::result(std::string_view name) const {
  for (std::size_t i = 0; i < m_results.size(); ++i)
    if (m_program.results[i].name == name) return m_results[i];
  throwError(ErrorCode::internal, "the program has no result '{}'", name);
}

double CudaExecutable::scalarResult(std::string_view name, StepNumber step) const {
  const Result& found = result(name);
  const Shape& shape = m_program.tensor(found.tensor).shape;
  if (shape.elements() != 1) throwError(ErrorCode::internal, "result '{}' is {}, not a scalar", name, shape.toString());
  double value = 0;
  copyResult(name, std::span(&value, 1), step);
  return value;
}

void CudaExecutable::readResult(std::string_view name, std::span<float> to, StepNumber step) const {
  copyResult(name, to, step);
}

void CudaExecutable::readResult(std::string_view name, std::span<double> to, StepNumber step) const {
  copyResult(name, to, step);
}

template <class T>
void CudaExecutable::copyResult(std::string_view name, std::span<T> to, StepNumber step) const {
  const Result& found = result(name);
  const Tensor& tensor = m_program.tensor(found.tensor);
  const auto elements = static_cast<std::size_t>(tensor.shape.elements());
  if (to.size() != elements)
    throwError(ErrorCode::internal, "result '{}' has {} numbers, but there is room for {}", name, elements, to.size());
  const Slot& slot = slotOf(keptStep(step, m_newest, kSlots));
  m_device->synchronise(*slot.done);
  const std::byte* from = slot.results->data() + found.at;
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
          {"recomputed", m_recomputation.operations},
          {"reorders", m_compiled.conversions},
          {"operations", std::move(all)}};
}

}  // namespace loom::cuda
