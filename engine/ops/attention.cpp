// attention (Vaswani et al., 2017): for each head of width d = C / heads, with s_ij = q_i . k_j / sqrt(d),
//   p_ij = exp(s_ij - l_i), l_i = log sum_j exp(s_ij), y_i = sum_j p_ij v_j; `causal`: only j <= i. `statistics` holds
//   l.
// Gradient (Dao et al., 2022, needs no stored p): D_i = dy_i . y_i, ds_ij = p_ij (dy_i . v_j - D_i) / sqrt(d),
//   dv_j = sum_i p_ij dy_i, dq_i = sum_j ds_ij k_j, dk_j = sum_i ds_ij q_i.
#include <cmath>

#include "engine/ops/support.h"

namespace loom {
namespace attention_op {

struct Extents {
  std::int64_t batch, queries, keys, channels, heads;
  bool causal;
  std::int64_t width() const { return channels / heads; }
  double scale() const { return 1 / std::sqrt(static_cast<double>(width())); }
  // How many keys query i sees.
  std::int64_t seen(std::int64_t i) const { return causal ? i + 1 : keys; }
  std::int64_t query(std::int64_t n, std::int64_t i, std::int64_t head) const {
    return (n * queries + i) * channels + head * width();
  }
  std::int64_t key(std::int64_t n, std::int64_t j, std::int64_t head) const {
    return (n * keys + j) * channels + head * width();
  }
  std::int64_t statistic(std::int64_t n, std::int64_t head, std::int64_t i) const {
    return (n * heads + head) * queries + i;
  }
};

Extents extentsOf(const Shape& q, const Shape& k, const Attributes& attributes) {
  return {q[0], q[1], k[1], q[2], attributes.integer("heads", 1), attributes.boolean("causal", false)};
}

double dot(const double* a, const double* b, std::int64_t width) {
  double sum = 0;
  for (std::int64_t c = 0; c < width; ++c) sum += a[c] * b[c];
  return sum;
}

Extents check(ops::Specs inputs, const Attributes& attributes) {
  for (std::size_t i : {0u, 1u, 2u}) {
    ops::needFloat("queries, keys and values", inputs[i]);
    ops::needRank("queries, keys and values (N x T x C)", inputs[i], 3, 3);
  }
  const Extents e = extentsOf(inputs[0].shape, inputs[1].shape, attributes);
  if (e.heads < 1 || e.channels % e.heads != 0)
    throwError(ErrorCode::badProject, "{} channels cannot be split evenly into {} heads", e.channels, e.heads);
  ops::needShape("the keys", inputs[1], {e.batch, e.keys, e.channels});
  ops::needSameShape("the keys", inputs[1], "the values", inputs[2]);
  if (e.causal && e.queries != e.keys)
    throwError(ErrorCode::badProject, "causal attention needs as many queries as keys, but there are {} and {}",
               e.queries, e.keys);
  return e;
}

std::vector<TensorSpec> infer(ops::Specs inputs, const Attributes& attributes) {
  const Extents e = check(inputs, attributes);
  return {ops::f32(inputs[0].shape), ops::f32({e.batch, e.heads, e.queries})};
}

ops::Gradients gradient(ProgramBuilder& builder, const GradientArguments& arguments) {
  const auto in = arguments.inputs;
  if (arguments.outputGradients[0] == kNoTensor) return ops::Gradients(3, kNoTensor);
  return builder.emit("attention_gradient",
                      {in[0], in[1], in[2], arguments.outputs[0], arguments.outputs[1], arguments.outputGradients[0]},
                      arguments.attributes);
}

void reference(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  const Extents e = extentsOf(inputs[0]->shape, inputs[1]->shape, attributes);
  const double *q = inputs[0]->values.data(), *k = inputs[1]->values.data(), *v = inputs[2]->values.data();
  for (std::int64_t n = 0; n < e.batch; ++n)
    for (std::int64_t head = 0; head < e.heads; ++head)
      for (std::int64_t i = 0; i < e.queries; ++i) {
        std::vector<double> s(static_cast<std::size_t>(e.seen(i)));
        for (std::int64_t j = 0; j < e.seen(i); ++j)
          s[static_cast<std::size_t>(j)] = e.scale() * dot(q + e.query(n, i, head), k + e.key(n, j, head), e.width());
        const double highest = *std::max_element(s.begin(), s.end());
        double sum = 0;
        for (double value : s) sum += std::exp(value - highest);
        const double logSum = highest + std::log(sum);
        outputs[1].values[static_cast<std::size_t>(e.statistic(n, head, i))] = logSum;
        double* y = outputs[0].values.data() + e.query(n, i, head);
        for (std::int64_t j = 0; j < e.seen(i); ++j)
          for (std::int64_t c = 0; c < e.width(); ++c)
            y[c] += std::exp(s[static_cast<std::size_t>(j)] - logSum) * v[e.key(n, j, head) + c];
      }
}

std::vector<TensorSpec> inferGradient(ops::Specs inputs, const Attributes& attributes) {
  const Extents e = check(inputs, attributes);
  ops::needSameShape("y", inputs[3], "the queries", inputs[0]);
  ops::needShape("the statistics", inputs[4], {e.batch, e.heads, e.queries});
  ops::needSameShape("dy", inputs[5], "the queries", inputs[0]);
  return {ops::f32(inputs[0].shape), ops::f32(inputs[1].shape), ops::f32(inputs[2].shape)};
}

void referenceGradient(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  const Extents e = extentsOf(inputs[0]->shape, inputs[1]->shape, attributes);
  const double *q = inputs[0]->values.data(), *k = inputs[1]->values.data(), *v = inputs[2]->values.data();
  const double *y = inputs[3]->values.data(), *dy = inputs[5]->values.data();
  double *dq = outputs[0].values.data(), *dk = outputs[1].values.data(), *dv = outputs[2].values.data();
  for (std::int64_t n = 0; n < e.batch; ++n)
    for (std::int64_t head = 0; head < e.heads; ++head)
      for (std::int64_t i = 0; i < e.queries; ++i) {
        const std::int64_t row = e.query(n, i, head);
        const double logSum = inputs[4]->values[static_cast<std::size_t>(e.statistic(n, head, i))];
        const double d = dot(dy + row, y + row, e.width());
        for (std::int64_t j = 0; j < e.seen(i); ++j) {
          const std::int64_t column = e.key(n, j, head);
          const double p = std::exp(e.scale() * dot(q + row, k + column, e.width()) - logSum);
          const double ds = p * (dot(dy + row, v + column, e.width()) - d) * e.scale();
          for (std::int64_t c = 0; c < e.width(); ++c) {
            dv[column + c] += p * dy[row + c];
            dq[row + c] += ds * k[column + c];
            dk[column + c] += ds * q[row + c];
          }
        }
      }
}

// Two products of queries x keys x channels forward, five backward (s again, dp, dv, dq, dk); causal ones see half.
double products(ops::Specs inputs, const Attributes& attributes, double count) {
  const Extents e = extentsOf(inputs[0].shape, inputs[1].shape, attributes);
  double pairs = 0;
  for (std::int64_t i = 0; i < e.queries; ++i) pairs += static_cast<double>(e.seen(i));
  return count * static_cast<double>(e.batch * e.channels) * pairs;
}
double multiplyAdds(ops::Specs inputs, ops::Specs, const Attributes& attributes) {
  return products(inputs, attributes, 2);
}
double multiplyAddsOfGradient(ops::Specs inputs, ops::Specs, const Attributes& attributes) {
  return products(inputs, attributes, 5);
}

}  // namespace attention_op

const OpDefinition& defineAttentionOp() {
  using namespace attention_op;
  static const OpDefinition op{.name = "attention",
                               .infer = infer,
                               .gradient = gradient,
                               .reference = reference,
                               .multiplyAdds = multiplyAdds,
                               .signature = "q, k, v -> y, statistics"};
  return op;
}

const OpDefinition& defineAttentionGradientOp() {
  using namespace attention_op;
  static const OpDefinition op{.name = "attention_gradient",
                               .infer = inferGradient,
                               .reference = referenceGradient,
                               .multiplyAdds = multiplyAddsOfGradient,
                               .signature = "q, k, v, y, statistics, dy -> dq, dk, dv"};
  return op;
}

}  // namespace loom
