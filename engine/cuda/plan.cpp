#include "engine/cuda/plan.h"

#include <algorithm>

#include "engine/base/error.h"

namespace loom::cuda {
namespace {

std::size_t bytesIn(const Shape& shape, DataType type) {
  return static_cast<std::size_t>(shape.elements()) * bytesOf(type);
}

}  // namespace

Plan::Plan(const Program& program, ParameterStore& store, Device& device, const CompileOptions& options)
    : m_program(program),
      m_store(store),
      m_device(device),
      m_collectives(options.collectives),
      m_factors(options.precision),
      m_tf32(options.tf32),
      m_fusion(planFusion(program, [&program](const Operation& one) { return joinsOf(program, one); })),
      m_buffers(program, kMemoryAlignment) {
  m_changed.resize(m_program.tensors.size());
  for (const Operation& operation : m_program.operations)
    for (const int input : updatedInputs(*operation.op, operation.inputs.size(), operation.attributes))
      if (const TensorId id = operation.inputs[static_cast<std::size_t>(input)]; id != kNoTensor)
        m_changed[static_cast<std::size_t>(id)] = true;
  prepareTensors();
  if (m_program.training)
    for (const NamedResult& result : m_program.results)
      if (result.kind == ResultKind::loss) m_unguarded.push_back(result.tensor);
}

void Plan::layOutFed() {
  std::vector<TensorId> inputs, scalars;
  for (std::size_t i = 0; i < m_program.tensors.size(); ++i) {
    if (m_program.tensors[i].role == TensorRole::input) inputs.push_back(static_cast<TensorId>(i));
    if (m_program.tensors[i].role == TensorRole::scalar) scalars.push_back(static_cast<TensorId>(i));
  }
  std::vector<std::pair<TensorId, std::size_t>> places;
  const auto place = [&](TensorId id, std::size_t bytes) {
    places.emplace_back(id, m_fedBytes);
    m_fedBytes += inLines(bytes);
  };
  for (const TensorId id : inputs) {
    m_fedBytes = (m_fedBytes + kMemoryAlignment - 1) / kMemoryAlignment * kMemoryAlignment;
    place(id, bytesIn(shape(id), tensor(id).type));
  }
  m_scalarsAt = m_fedBytes;
  for (const TensorId id : scalars) place(id, kScalarLine);
  m_fedBytes += kScalarLine;
  m_fed = m_buffers.make(m_fedBytes);
  m_landing = m_buffers.make(m_fedBytes);
  for (const int buffer : {m_fed, m_landing}) m_buffers.keep(buffer);
  for (const auto& [id, offset] : places)
    m_buffers.versions(id).push_back({plainLayout(shape(id).rank()), tensor(id).type, m_fed, offset});
}

// Everything that exists before the first stage: inputs, scalars, constants, and what the store owns.
void Plan::prepareTensors() {
  std::vector<bool> computed(m_program.tensors.size());
  for (const Operation& operation : m_program.operations)
    for (const TensorId id : operation.outputs)
      if (id != kNoTensor) computed[static_cast<std::size_t>(id)] = true;
  layOutFed();
  for (std::size_t i = 0; i < m_program.tensors.size(); ++i) {
    const auto id = static_cast<TensorId>(i);
    const Tensor& one = m_program.tensors[i];
    int buffer = -1;
    switch (one.role) {
      case TensorRole::parameter:
      case TensorRole::state:
      case TensorRole::slot:
      case TensorRole::parameterGradient:
        if (!computed[i]) buffer = m_buffers.external(reinterpret_cast<std::byte*>(stored(id).address()));
        break;
      case TensorRole::constant: {
        std::vector<std::byte> content(bytesIn(one.shape, one.type));
        for (std::int64_t k = 0; k < one.shape.elements(); ++k) {
          if (one.type == DataType::i32)
            reinterpret_cast<std::int32_t*>(content.data())[k] = static_cast<std::int32_t>(one.value);
          else
            reinterpret_cast<float*>(content.data())[k] = static_cast<float>(one.value);
        }
        buffer = m_buffers.make(content.size());
        m_buffers.keep(buffer);
        m_constants.push_back({operand({{}, one.type, buffer}), [content = std::move(content)] { return content; }});
        break;
      }
      case TensorRole::input:
      case TensorRole::scalar:
      case TensorRole::intermediate:
        break;
    }
    if (buffer >= 0) m_buffers.versions(id).push_back({plainLayout(one.shape.rank()), one.type, buffer});
  }
}

StoredTensor& Plan::stored(TensorId id) {
  return *storedTensor(m_store, tensor(id));
}

const std::string& Plan::origin() const {
  static const std::string none;
  const auto now = static_cast<std::size_t>(m_buffers.now());
  return now < m_program.operations.size() ? m_program.operations[now].origin : none;
}

bool Plan::wanted(TensorId id) const {
  return id != kNoTensor && (tensor(id).role == TensorRole::parameterGradient ||
                             !m_fusion.consumers[static_cast<std::size_t>(id)].empty());
}

Layout Plan::commonLayout(std::initializer_list<TensorId> inputs) const {
  const std::size_t rank = shape(*inputs.begin()).rank();
  for (const TensorId id : inputs)
    if (id != kNoTensor && shape(id).rank() == rank && !isPlain(shape(id), layoutOf(id))) return layoutOf(id);
  return plainLayout(rank);
}

Operand Plan::operand(const BufferPlan::Version& version) {
  return {m_buffers.use(version.buffer).at(static_cast<std::int64_t>(version.offset)), m_buffers.bytes(version.buffer),
          version.type};
}

Operand Plan::read(TensorId id, const Layout& asked, DataType type) {
  if (id == kNoTensor) return {};
  const Layout layout = asked;  // it may be one of the versions', which move
  const BufferPlan::Version* const found = m_buffers.find(id, layout, type);
  const std::size_t wanted = bytesIn(shape(id), type);
  if (found != nullptr) {
    Operand there = operand(*found);
    there.bytes = wanted;
    return there;
  }
  m_buffers.layoutOf(id);  // throws where it was not written
  // From the form that was written: others were rounded on their way.
  const BufferPlan::Version source = m_buffers.versions(id).front();
  Operand from = operand(source);
  from.bytes = bytesIn(shape(id), source.type);
  const BufferPlan::Version made{layout, type, m_buffers.make(wanted)};
  m_buffers.versions(id).push_back(made);
  Operand to = operand(made);
  to.bytes = wanted;
  const ConvertArguments plan = convertArguments(shape(id), source.layout, source.type, layout, type);
  ++m_conversions;
  if (isSteadyWeight(id)) {
    m_weights.push_back({plan, source, to, made.buffer});
    return to;
  }
  kernel("convert", overElements(plan.count, plan.packed ? kConvertPack : 1), {from}, {to}, [plan, from, to] {
    ConvertArguments arguments = plan;
    arguments.from = from.address<>();
    arguments.to = to.address<>();
    return arguments;
  });
  return to;
}

// A weight is what the store holds throughout the step, unless the program itself changes it.
bool Plan::isSteadyWeight(TensorId id) const {
  return tensor(id).role == TensorRole::parameter && !m_changed[static_cast<std::size_t>(id)] &&
         m_buffers.versions(id).front().type == DataType::f32;
}

Operand Plan::write(TensorId id, const Layout& layout, DataType type) {
  const std::size_t bytes = bytesIn(shape(id), type);
  const BufferPlan::Version made{layout, type, m_buffers.make(bytes)};
  m_buffers.versions(id).assign(1, made);
  if (tensor(id).role == TensorRole::parameterGradient) m_undelivered.push_back(id);
  Operand to = operand(made);
  to.bytes = bytes;
  return to;
}

void Plan::alias(TensorId to, const Layout& toLayout, TensorId from, const Layout& asked) {
  const DataType type = tensor(to).type;
  const Layout layout = toLayout, fromLayout = asked;  // they may be the versions', which move
  read(from, fromLayout, type);
  const BufferPlan::Version& there = *m_buffers.find(from, fromLayout, type);
  m_buffers.versions(to).assign(1, {layout, type, there.buffer, there.offset});
  if (tensor(to).role == TensorRole::parameterGradient) m_undelivered.push_back(to);
}

Operand Plan::inStore(TensorId id) {
  Operand there = operand({{}, DataType::f32, m_buffers.external(reinterpret_cast<std::byte*>(stored(id).address()))});
  there.bytes = bytesIn(shape(id), DataType::f32);
  return there;
}

Operand Plan::scratch(std::size_t bytes) {
  const int buffer = m_buffers.make(std::max<std::size_t>(bytes, 1));
  return {m_buffers.use(buffer), bytes, DataType::u8};
}

Operand Plan::shared(const std::string& key, std::size_t bytes) {
  const int buffer = m_buffers.shared(key, std::max<std::size_t>(bytes, 1));
  return {m_buffers.use(buffer), bytes, DataType::u8};
}

Operand Plan::constant(std::vector<std::byte> content) {
  const std::size_t bytes = content.size();
  return constant(bytes, [content = std::move(content)] { return content; });
}

Operand Plan::constant(std::size_t bytes, std::function<std::vector<std::byte>()> content) {
  const int buffer = m_buffers.make(std::max<std::size_t>(bytes, 1));
  m_buffers.keep(buffer);
  const Operand made{m_buffers.use(buffer), bytes, DataType::u8};
  m_constants.push_back({made, std::move(content)});
  return made;
}

void Plan::stage(Stage stage) {
  if (stage.origin.empty()) stage.origin = origin();
  const auto now = static_cast<std::size_t>(m_buffers.now());
  const bool inside = now < m_program.operations.size();  // behind the last one, results are converted
  if (stage.op.empty())
    stage.op = !inside || stage.kernel == "convert" ? stage.kernel : m_program.operations[now].op->name;
  if (inside && stage.kind == StageKind::memory) stage.kind = kindOf(stage.op);
  m_stages.push_back(std::move(stage));
}

void Plan::fill(const Operand& what, unsigned char value) {
  stage({.kernel = "fill", .implementation = "device", .writes = {what}, .bind = [what, value]() -> Call {
           return FillCall{what.address<>(), what.bytes, value};
         }});
}

void Plan::guard(TensorId input, std::function<void(std::span<const std::byte>)> check) {
  if (!isInput(input)) throwError(ErrorCode::internal, "'{}' is no input, and cannot be checked", tensor(input).name);
  m_guards.push_back({input, std::move(check)});
}

// Of the losses so far; empty where there was none.
Operand Plan::lossGuard() {
  return m_guard.empty() ? Operand{} : shared(m_guard, sizeof(float));
}

Operand Plan::deliveryWords() {
  Operand words = operand({{}, DataType::u8, m_fed, m_fedBytes - kScalarLine});
  words.bytes = sizeof(DeliveryWords);
  return words;
}

Plan::Fed Plan::fed() {
  return {{m_buffers.use(m_fed), m_fedBytes, DataType::u8},
          {m_buffers.use(m_landing), m_fedBytes, DataType::u8},
          m_scalarsAt};
}

// A loss that is not finite spoils the gradients that follow, so that no step is taken with them, whether or not the
// host waits to see it.
void Plan::guardLosses() {
  std::erase_if(m_unguarded, [this](TensorId id) {
    if (m_buffers.versions(id).empty()) return false;
    const Operand loss = read(id), before = lossGuard();
    m_guard = fmt::format("guard of loss {}", id);
    const Operand guard = lossGuard();
    kernel("guard_loss", {{1}, {32}}, {loss, before}, {guard}, [=] {
      return GuardLossArguments{loss.address<const float>(), before.address<const float>(), guard.address<float>()};
    });
    return true;
  });
}

void Plan::lowerAll() {
  for (std::size_t i = 0; i < m_program.operations.size(); ++i) {
    m_buffers.setNow(static_cast<int>(i));
    const Operation& operation = m_program.operations[i];
    if (fused().skip) continue;
    if (operation.op->communicates || isDeliveryDue()) deliverPending();  // ranks exchange what the store holds
    try {
      const Lowering lower = findLowering(operation.op->name);
      if (lower == nullptr)
        throwError(ErrorCode::internal, "the CUDA backend knows no operation '{}'", operation.op->name);
      lower(*this, operation);
      guardLosses();
      for (const TensorId id : std::exchange(m_undelivered, {})) deliver(id);
    } catch (Error& error) {
      if (!operation.origin.empty()) error.addContext("in layer '" + operation.origin + "'");
      throw;
    }
  }
  m_buffers.setNow(static_cast<int>(m_program.operations.size()));
  deliverPending();
  for (const NamedResult& result : m_program.results) {
    read(result.tensor);
    m_buffers.keepBehind(
        m_buffers.find(result.tensor, plainLayout(shape(result.tensor).rank()), tensor(result.tensor).type)->buffer);
  }
  convertWeights();
}

void Stage::settle() {
  call = bind();
  for (const Operand& one : writes)
    if (one) accesses.push_back({one.address<>(), one.bytes, true});
  for (const Operand& one : reads)
    if (one) accesses.push_back({one.address<>(), one.bytes, false});
}

Plan::Result Plan::finish(const BufferPlan::Allocate& allocate) {
  const BufferPlan::Extent bytes = m_buffers.finish(allocate);
  for (Stage& stage : m_stages) stage.settle();
  std::vector<std::pair<Operand, std::vector<std::byte>>> constants;
  for (const auto& [to, content] : std::exchange(m_constants, {})) constants.push_back({to, content()});
  return {std::move(m_stages), std::move(m_guards), std::move(constants), bytes, m_conversions};
}

std::vector<StageCost> Plan::costs() const {
  const auto moved = [](const std::vector<Operand>& operands) {
    std::size_t bytes = 0;
    for (const Operand& one : operands)
      if (one) bytes += one.moved.value_or(one.bytes);
    return static_cast<double>(bytes);
  };
  std::vector<StageCost> costs;
  for (const Stage& stage : m_stages)
    costs.push_back({.op = stage.op,
                     .kernel = stage.kernel,
                     .origin = stage.origin,
                     .kind = stage.kind,
                     .factors = stage.factors,
                     .tf32 = stage.tf32,
                     .read = moved(stage.reads),
                     .written = moved(stage.writes),
                     .operations = 2 * stage.multiplyAdds});
  return costs;
}

Launch overElements(std::int64_t elements, std::int64_t perThread) {
  constexpr unsigned kThreads = 256;
  constexpr std::int64_t kMostBlocks = 1 << 16;  // each strides over the rest
  const std::int64_t perBlock = kThreads * perThread;
  const std::int64_t blocks = std::clamp<std::int64_t>((elements + perBlock - 1) / perBlock, 1, kMostBlocks);
  return {.grid = {static_cast<unsigned>(blocks)}, .block = {kThreads}};
}

std::string named(std::string_view kernel, DataType type) {
  return std::string(kernel) + "." + std::string(toString(type));
}

}  // namespace loom::cuda
