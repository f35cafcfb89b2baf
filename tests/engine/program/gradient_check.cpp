#include "tests/engine/program/gradient_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/passes/differentiate.h"
#include "engine/passes/passes.h"
#include "engine/program/builder.h"
#include "engine/program/initial_value.h"

namespace loom {
namespace {

constexpr const char* kProjection = "gradient_check/projection";

// Replaces the results by one loss: the sum over results k of <projection k, result k>. The projections are inputs.
void projectResults(ProgramBuilder& builder) {
  const std::vector<NamedResult> results = std::exchange(builder.program().results, {});
  TensorId loss = kNoTensor;
  for (std::size_t k = 0; k < results.size(); ++k) {
    if (builder.tensor(results[k].tensor).type != DataType::f32) continue;
    const TensorId projection =
        builder.input(kProjection + std::to_string(k), builder.shape(results[k].tensor), DataType::f32);
    const TensorId product = builder.add("binary", {results[k].tensor, projection}, {{"function", "multiply"}});
    const TensorId sum =
        builder.shape(product).rank() == 0 ? product : builder.add("reduce", {product}, {{"function", "sum"}});
    loss = loss == kNoTensor ? sum : builder.add("binary", {loss, sum}, {{"function", "add"}});
  }
  builder.result("loss", ResultKind::loss, loss);
}

bool isProjection(const Tensor& tensor) {
  return tensor.name.starts_with(kProjection);
}

void fill(Evaluator& evaluator, std::uint64_t seed) {
  const Program& program = evaluator.program();
  for (std::size_t id = 0; id < program.tensors.size(); ++id) {
    const Tensor& tensor = program.tensors[id];
    const Philox random(seed, tensor.name);
    std::vector<double>& values = evaluator.value(static_cast<TensorId>(id)).values;
    const bool free =
        tensor.role == TensorRole::parameter || (tensor.role == TensorRole::input && tensor.type == DataType::f32);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (free)
        values[i] = 2 * random.uniform(i) - 1;
      else if (tensor.role == TensorRole::state)
        values[i] = initialValue(program.findParameter(tensor.name)->initializer, random, i);
    }
  }
}

// Differences of one program with respect to one element.
class Differences {
 public:
  Differences(Evaluator& evaluator, double step) : m_evaluator(evaluator), m_step(step) {
    const std::vector<Tensor>& tensors = evaluator.program().tensors;
    for (std::size_t id = 0; id < tensors.size(); ++id)
      if (tensors[id].role == TensorRole::state)
        m_states.emplace_back(static_cast<TensorId>(id), evaluator.value(static_cast<TensorId>(id)).values);
  }

  struct Slope {
    double value;
    bool kink;
  };

  Slope at(TensorId tensor, std::size_t element) {
    const double coarse = slope(tensor, element, m_step), fine = slope(tensor, element, m_step / 8);
    // A smooth function has slopes that agree to h^2; a kink between v - h and v + h shifts them by parts of its jump.
    return {coarse, std::abs(coarse - fine) > 1e-3 * std::max({std::abs(coarse), std::abs(fine), 1e-3})};
  }

 private:
  double slope(TensorId tensor, std::size_t element, double step) {
    const double before = m_evaluator.value(tensor).values[element];
    const double high = lossWith(tensor, element, before + step), low = lossWith(tensor, element, before - step);
    m_evaluator.value(tensor).values[element] = before;
    return (high - low) / (2 * step);
  }

  double lossWith(TensorId tensor, std::size_t element, double value) {
    m_evaluator.value(tensor).values[element] = value;
    for (const auto& [id, values] : m_states) m_evaluator.value(id).values = values;  // a run may have changed them
    m_evaluator.run();
    return m_evaluator.result("loss");
  }

  Evaluator& m_evaluator;
  double m_step;
  std::vector<std::pair<TensorId, std::vector<double>>> m_states;  // as they were before the first run
};

void compare(GradientCheck& check, const Tensor& tensor, const std::vector<double>& gradient, Differences& differences,
             TensorId id, const GradientCheckOptions& options) {
  double scale = 1e-3;
  for (double value : gradient) scale = std::max(scale, std::abs(value));
  const std::size_t count = gradient.size(), most = static_cast<std::size_t>(options.elementsPerTensor);
  const std::size_t checks = std::min(count, most);
  for (std::size_t k = 0; k < checks; ++k) {
    const std::size_t element = count <= most ? k : k * count / checks;
    const Differences::Slope slope = differences.at(id, element);
    if (slope.kink) {
      ++check.kinks;
      continue;
    }
    ++check.checked;
    const double deviation = std::abs(slope.value - gradient[element]) / scale;
    if (deviation > check.worst || std::isnan(deviation)) {
      check.worst = deviation;
      check.message = fmt::format("{} '{}' ({}) element {}: {} by the gradient, {} by differences",
                                  tensor.role == TensorRole::input ? "input" : "parameter", tensor.name,
                                  tensor.shape.toString(), element, gradient[element], slope.value);
    }
    check.passed &= deviation <= options.tolerance;
  }
}

}  // namespace

GradientCheck checkGradients(const Program& forward, const std::function<void(Evaluator&)>& prepare,
                             const GradientCheckOptions& options) {
  ProgramBuilder builder(forward);
  projectResults(builder);
  eliminateDeadCode(builder.program());
  Evaluator numeric(builder.program());
  fill(numeric, options.seed);
  if (prepare) prepare(numeric);

  std::vector<TensorId> targets;
  for (std::size_t id = 0; id < builder.program().tensors.size(); ++id) {
    const Tensor& tensor = builder.program().tensors[id];
    const bool isInput = tensor.role == TensorRole::input && tensor.type == DataType::f32 && !isProjection(tensor);
    if (isInput || tensor.role == TensorRole::parameter) targets.push_back(static_cast<TensorId>(id));
  }
  const std::vector<TensorId> gradients = gradientsOf(builder, targets);
  eliminateDeadCode(builder.program(), gradients);
  Evaluator analytic(builder.program());
  for (std::size_t id = 0; id < numeric.program().tensors.size(); ++id)
    analytic.value(static_cast<TensorId>(id)) = numeric.value(static_cast<TensorId>(id));
  analytic.run();

  GradientCheck check;
  Differences differences(numeric, options.step);
  for (std::size_t k = 0; k < targets.size(); ++k) {
    const Tensor& tensor = numeric.program().tensor(targets[k]);
    check.flowing += gradients[k] != kNoTensor;
    const std::vector<double> gradient =
        gradients[k] == kNoTensor ? std::vector<double>(static_cast<std::size_t>(tensor.shape.elements()), 0.0)
                                  : analytic.value(gradients[k]).values;
    compare(check, tensor, gradient, differences, targets[k], options);
  }
  return check;
}

}  // namespace loom
