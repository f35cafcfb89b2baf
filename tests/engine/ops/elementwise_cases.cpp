#include "tests/engine/ops/case_families.h"

namespace loom::cases {

std::vector<OpCase> elementwiseCases() {
  std::vector<OpCase> cases;
  for (const char* function :
       {"relu", "selu", "gelu", "silu", "sigmoid", "tanh", "exp", "square", "negative", "absolute"})
    cases.push_back({std::string("unary_") + function, "unary", {values({3, 5, 7}, -3, 3)}, {{"function", function}}});
  for (const char* function : {"softplus", "softsign", "erf", "sin", "cos", "atan", "sinh", "cosh", "asinh",
                               "hard_swish", "hard_sigmoid", "sign", "floor", "ceil", "round"})
    cases.push_back({std::string("unary_") + function, "unary", {values({3, 5, 7}, -4, 4)}, {{"function", function}}});
  for (const char* function : {"tan", "asin", "acos", "atanh"})
    cases.push_back(
        {std::string("unary_") + function, "unary", {values({3, 5, 7}, -0.9, 0.9)}, {{"function", function}}});
  for (const char* function : {"equal", "not_equal", "greater", "greater_equal", "less", "less_equal", "minimum"}) {
    cases.push_back({std::string("binary_") + function,
                     "binary",
                     {values({3, 4, 5}), values({3, 4, 5})},
                     {{"function", function}}});
    cases.push_back({std::string("binary_") + function + "_number",
                     "binary",
                     {values({3, 4, 5}), values({1, 1, 1})},
                     {{"function", function}}});
  }
  for (const char* function : {"log", "sqrt", "reciprocal", "reciprocal_sqrt"})
    cases.push_back({std::string("unary_") + function, "unary", {values({3, 5, 7}, 0.2, 3)}, {{"function", function}}});
  const std::vector<OpCase> others{
      {"unary_leaky_relu", "unary", {values({3, 5, 7}, -3, 3)}, {{"function", "leaky_relu"}, {"alpha", 0.2}}},
      {"unary_leaky_relu_negative", "unary", {values({3, 5, 7}, -3, 3)}, {{"function", "leaky_relu"}, {"alpha", -0.5}}},
      {"unary_elu", "unary", {values({3, 5, 7}, -3, 3)}, {{"function", "elu"}, {"alpha", 1.5}}},
      {"unary_elu_negative", "unary", {values({3, 5, 7}, -3, 3)}, {{"function", "elu"}, {"alpha", -0.5}}},
      {"unary_acosh", "unary", {values({3, 5, 7}, 2.5, 6)}, {{"function", "acosh"}}},
      {"unary_clamp", "unary", {values({3, 5, 7}, -3, 8)}, {{"function", "clamp"}, {"alpha", -1.5}, {"beta", 6.0}}},
      {"unary_clamp_above", "unary", {values({3, 5, 7}, -3, 3)}, {{"function", "clamp"}, {"beta", 1.25}}},
      {"unary_hard_sigmoid_keras",
       "unary",
       {values({3, 5, 7}, -4, 4)},
       {{"function", "hard_sigmoid"}, {"alpha", 0.2}, {"beta", 0.4}}},
      {"unary_softplus_sharp", "unary", {values({3, 5, 7}, -30, 30)}, {{"function", "softplus"}, {"alpha", 2.5}}},
      {"unary_gelu_tanh", "unary", {values({3, 5, 7}, -3, 3)}, {{"function", "gelu"}, {"approximate", true}}},
      {"unary_relu_images", "unary", {values({2, 17, 5, 3}, -3, 3)}, {{"function", "relu"}}},
      {"unary_scalar", "unary", {values({})}, {{"function", "tanh"}}},

      {"binary_add", "binary", {values({3, 4, 5}), values({3, 4, 5})}, {{"function", "add"}}},
      {"binary_add_channel", "binary", {values({3, 4, 5, 2}), values({1, 4, 1, 1})}, {{"function", "add"}}},
      {"binary_subtract_row", "binary", {values({3, 4, 5}), values({1, 1, 5})}, {{"function", "subtract"}}},
      {"binary_multiply", "binary", {values({3, 4, 5}), values({3, 4, 5})}, {{"function", "multiply"}}},
      {"binary_multiply_sample", "binary", {values({3, 4, 5}), values({3, 1, 1})}, {{"function", "multiply"}}},
      {"binary_multiply_gate", "binary", {values({2, 6, 3, 3}), values({2, 6, 1, 1})}, {{"function", "multiply"}}},
      {"binary_divide", "binary", {values({3, 4, 5}), values({3, 4, 1}, 0.5, 2)}, {{"function", "divide"}}},
      {"binary_maximum", "binary", {values({3, 4, 5}), values({3, 1, 5})}, {{"function", "maximum"}}},
      {"binary_minimum_row", "binary", {values({3, 4, 5}), values({3, 1, 5})}, {{"function", "minimum"}}},
      {"binary_power", "binary", {values({3, 4, 5}, 0.2, 2), values({3, 4, 5}, -2, 3)}, {{"function", "power"}}},
      {"binary_power_number", "binary", {values({3, 4, 5}, 0.2, 2), values({1, 1, 1}, 1, 3)}, {{"function", "power"}}},
      {"binary_modulo", "binary", {values({3, 4, 5}, -5, 5), values({3, 4, 5}, 0.6, 2)}, {{"function", "modulo"}}},
      {"binary_modulo_row",
       "binary",
       {values({3, 4, 5}, -5, 5), values({1, 1, 5}, -2, -0.6)},
       {{"function", "modulo"}}},
      {"binary_fmod", "binary", {values({3, 4, 5}, -5, 5), values({3, 4, 1}, 0.6, 2)}, {{"function", "fmod"}}},
      {"binary_fmod_number", "binary", {values({3, 4, 5}, -5, 5), values({1, 1, 1}, 0.7, 1)}, {{"function", "fmod"}}},
      {"select", "select", {values({3, 4, 5}), values({3, 4, 5}), values({3, 4, 5})}, {}},
      {"stop_gradient", "stop_gradient", {values({3, 5})}, {}},
      {"binary_scalars", "binary", {values({}), values({})}, {{"function", "multiply"}}},

      {"scale", "scale", {values({3, 5})}, {{"factor", -2.5}, {"offset", 0.75}}},
      {"scale_offset_only", "scale", {values({3, 5})}, {{"factor", 1.0}, {"offset", 3.0}}},
      {"scale_by", "scale_by", {values({3, 5}), values({})}, {}},
      {"dropout",
       "dropout",
       {values({5, 3, 7}), step(), firstSample()},
       {{"probability", 0.4}, {"stream", std::int64_t{123456789}}}},
      {"dropout_none",
       "dropout",
       {values({5, 3}), step(), firstSample()},
       {{"probability", 0.0}, {"stream", std::int64_t{-7}}}},
      {"random_normal",
       "random",
       {step(), firstSample()},
       {{"distribution", "normal"}, {"shape", Integers{3, 7}}, {"stream", std::int64_t{42}}}},
      {"random_uniform",
       "random",
       {step(), firstSample()},
       {{"distribution", "uniform"}, {"shape", Integers{3, 2, 3}}, {"stream", std::int64_t{43}}}},
  };
  cases.insert(cases.end(), others.begin(), others.end());
  return cases;
}

}  // namespace loom::cases
