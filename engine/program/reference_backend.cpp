// The backend of last resort: an Evaluator behind the seam that every machine's backend has.
#include <cstring>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/program/backend.h"
#include "engine/program/evaluator.h"

namespace loom {
namespace {

double numberAt(const std::byte* at, DataType type) {
  const auto as = [&]<class T>(T value) {
    std::memcpy(&value, at, sizeof(T));
    return static_cast<double>(value);
  };
  switch (type) {
    case DataType::f32:
      return as(float{});
    case DataType::f64:
      return as(double{});
    case DataType::i32:
      return as(std::int32_t{});
    case DataType::i64:
      return as(std::int64_t{});
    case DataType::u8:
      return as(std::uint8_t{});
    default:
      throwError(ErrorCode::internal, "the reference backend takes no inputs of type {}", toString(type));
  }
}

class ReferenceExecutable final : public Executable {
 public:
  ReferenceExecutable(Program program, ParameterStore& store) : m_evaluator(std::move(program)), m_store(store) {
    m_store.ensure(m_evaluator.program().parameters);
    for (std::size_t id = 0; id < m_evaluator.program().tensors.size(); ++id) {
      const Tensor& tensor = m_evaluator.program().tensors[id];
      if (tensor.role != TensorRole::input) continue;
      m_inputs[tensor.name].resize(static_cast<std::size_t>(tensor.shape.elements()) * bytesOf(tensor.type));
    }
    for (const Tensor& tensor : m_evaluator.program().tensors) m_stored.push_back(storedTensor(m_store, tensor));
    m_written.resize(m_stored.size());
    for (const Operation& operation : m_evaluator.program().operations) {
      for (TensorId id : operation.outputs) m_written[static_cast<std::size_t>(id)] = true;
      for (int i : updatedInputs(*operation.op, operation.inputs.size(), operation.attributes))
        m_written[static_cast<std::size_t>(operation.inputs[static_cast<std::size_t>(i)])] = true;
    }
  }

  std::span<std::byte> input(std::string_view name) override {
    const auto found = m_inputs.find(name);
    if (found == m_inputs.end()) throwError(ErrorCode::internal, "the program has no input '{}'", name);
    return found->second;
  }

  StepNumber run(const StepOptions& options) override {
    for (std::size_t id = 0; id < program().tensors.size(); ++id) load(static_cast<TensorId>(id), options);
    m_evaluator.run();
    for (std::size_t id = 0; id < program().tensors.size(); ++id) storeBack(static_cast<TensorId>(id), options);
    return ++m_newest;
  }

  double scalarResult(std::string_view name, StepNumber step) const override {
    keptStep(step, m_newest, 1);
    return m_evaluator.result(name);
  }
  void readResult(std::string_view name, std::span<float> to, StepNumber step) const override {
    copyResult(name, to, step);
  }
  void readResult(std::string_view name, std::span<double> to, StepNumber step) const override {
    copyResult(name, to, step);
  }

  const Program& program() const override { return m_evaluator.program(); }

  Json describe() const override {
    Json operations = Json::array();
    for (const Operation& operation : program().operations)
      operations.push_back({{"kernel", operation.op->name},
                            {"implementation", "reference"},
                            {"layout", "row-major"},
                            {"origin", operation.origin}});
    return {{"arena_bytes", 0}, {"operations", std::move(operations)}, {"reorders", 0}};
  }

 private:
  template <class T>
  void copyResult(std::string_view name, std::span<T> to, StepNumber step) const {
    keptStep(step, m_newest, 1);
    for (const NamedResult& result : program().results) {
      if (result.name != name) continue;
      const std::vector<double>& values = m_evaluator.value(result.tensor).values;
      if (values.size() != to.size())
        throwError(ErrorCode::internal, "the result '{}' holds {} values, but {} are asked for", name, values.size(),
                   to.size());
      for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<T>(values[i]);
      return;
    }
    throwError(ErrorCode::internal, "the program has no result '{}'", name);
  }

  void load(TensorId id, const StepOptions& options) {
    const Tensor& tensor = program().tensor(id);
    std::vector<double>& values = m_evaluator.value(id).values;
    switch (tensor.role) {
      case TensorRole::input: {
        const std::vector<std::byte>& bytes = m_inputs.find(tensor.name)->second;
        for (std::size_t i = 0; i < values.size(); ++i)
          values[i] = numberAt(bytes.data() + i * bytesOf(tensor.type), tensor.type);
        break;
      }
      case TensorRole::scalar:
        values[0] = scalarOf(options, tensor.name);
        break;
      default: {
        const StoredTensor* const stored = m_stored[static_cast<std::size_t>(id)];
        if (stored == nullptr) break;
        const std::vector<float> numbers = stored->values();
        values.assign(numbers.begin(), numbers.end());
      }
    }
  }

  void storeBack(TensorId id, const StepOptions& options) {
    if (!m_written[static_cast<std::size_t>(id)]) return;
    const std::vector<double>& values = m_evaluator.value(id).values;
    const bool adds = program().tensor(id).role == TensorRole::parameterGradient && options.accumulate;
    StoredTensor* const stored = m_stored[static_cast<std::size_t>(id)];
    if (stored == nullptr) return;
    std::vector<float> numbers = stored->values();
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = static_cast<float>(adds ? numbers[i] + values[i] : values[i]);
    stored->write(numbers);
  }

  Evaluator m_evaluator;
  ParameterStore& m_store;
  std::map<std::string, std::vector<std::byte>, std::less<>> m_inputs;
  std::vector<StoredTensor*> m_stored;  // by tensor, null where the store owns none
  std::vector<bool> m_written;          // by tensor
  StepNumber m_newest = 0;
};

class ReferenceBackend final : public Backend {
 public:
  std::string name() const override { return "reference"; }
  std::unique_ptr<TensorMemory> makeMemory() override { return makeHostMemory(); }

  std::unique_ptr<Executable> compile(Program program, ParameterStore& store, const CompileOptions& options) override {
    if (options.precision != DataType::f32)
      throwError(ErrorCode::badArgument, "the reference backend computes in f64 and stores f32; it has no precision {}",
                 toString(options.precision));
    return std::make_unique<ReferenceExecutable>(std::move(program), store);
  }

  BufferPlan::Extent measure(Program program, const CompileOptions&) override {
    BufferPlan::Extent extent;
    for (const Tensor& tensor : program.tensors)
      extent.lasting += static_cast<std::size_t>(tensor.shape.elements()) * sizeof(double);
    return extent;
  }
};

}  // namespace

std::unique_ptr<Backend> makeReferenceBackend() {
  return std::make_unique<ReferenceBackend>();
}

}  // namespace loom
