#include "tests/engine/ops/case_families.h"

namespace loom::cases {

std::vector<OpCase> shapeCases() {
  return {
      {"sum_to_channels", "sum_to", {values({3, 4, 5, 2})}, {{"shape", Integers{1, 4, 1, 1}}}},
      {"sum_to_all", "sum_to", {values({3, 4, 5})}, {{"shape", Integers{1, 1, 1}}}},
      {"sum_to_same", "sum_to", {values({3, 4})}, {{"shape", Integers{3, 4}}}},
      {"broadcast_rows", "broadcast", {values({3, 1, 5})}, {{"shape", Integers{3, 4, 5}}}},
      {"broadcast_all", "broadcast", {values({1, 1})}, {{"shape", Integers{3, 4}}}},
      {"reduce_sum_all", "reduce", {values({3, 4, 5})}, {{"function", "sum"}}},
      {"reduce_sum_middle",
       "reduce",
       {values({3, 4, 5})},
       {{"function", "sum"}, {"axes", Integers{1}}, {"keep", false}}},
      {"reduce_mean_ends",
       "reduce",
       {values({3, 4, 5})},
       {{"function", "mean"}, {"axes", Integers{0, -1}}, {"keep", false}}},
      {"reduce_mean_spatial_kept",
       "reduce",
       {values({3, 4, 5, 2})},
       {{"function", "mean"}, {"axes", Integers{2, 3}}, {"keep", true}}},
      {"all_reduce_bucket", "all_reduce", {values({3, 4}), values({5})}, {{"bucket", 1}, {"group", "data"}}},
      {"all_gather_alone", "all_gather", {values({3, 4})}, {{"group", "data"}, {"ranks", 1}}},
      {"reduce_scatter_alone", "reduce_scatter", {values({3, 4})}, {{"bucket", 1}}},
      {"broadcast_from_alone", "broadcast_from", {values({3, 4, 2})}, {{"root", 0}}},
      {"reduce_to_alone", "reduce_to", {values({7})}, {{"root", 0}, {"ranks", 1}}},
      {"softmax_last", "softmax", {values({3, 4, 7}, -3, 3)}, {{"axis", -1}}},
      {"softmax_channels", "softmax", {values({3, 4, 2, 3}, -3, 3)}, {{"axis", 1}}},
      {"concatenate_channels", "concatenate", {values({2, 3, 4}), values({2, 1, 4}), values({2, 5, 4})}, {{"axis", 1}}},
      {"concatenate_last", "concatenate", {values({2, 3, 4}), values({2, 3, 1})}, {{"axis", -1}}},
      {"concatenate_one", "concatenate", {values({2, 3})}, {{"axis", 1}}},
      {"slice_channels", "slice", {values({2, 7, 3})}, {{"axis", 1}, {"start", 2}, {"length", 3}, {"step", 1}}},
      {"slice_steps", "slice", {values({2, 3, 9})}, {{"axis", -1}, {"start", 1}, {"length", 3}, {"step", 3}}},
      {"slice_gradient_alone",
       "slice_gradient",
       {values({2, 3})},
       {{"axis", 1}, {"start", 1}, {"length", 3}, {"step", 2}, {"input_shape", Integers{2, 7}}}},
      {"reshape", "reshape", {values({2, 3, 4})}, {{"shape", Integers{2, 12}}}},
      {"transpose_images", "transpose", {values({2, 3, 4, 5})}, {{"axes", Integers{0, 2, 3, 1}}}},
      {"transpose_cycle", "transpose", {values({2, 3, 4})}, {{"axes", Integers{2, 0, 1}}}},
  };
}

std::vector<OpCase> partnerCases() {
  return {
      {"send_to_another", "send", {values({3, 4})}, {{"to", 1}, {"ranks", 2}, {"bucket", 3}}},
      {"receive_from_another", "receive", {}, {{"from", 0}, {"ranks", 2}, {"bucket", 3}, {"shape", Integers{3, 4}}}},
      {"all_gather_of_two", "all_gather", {values({3, 4})}, {{"ranks", 2}}},
      {"reduce_scatter_of_two", "reduce_scatter", {values({6, 4})}, {{"ranks", 2}}},
      {"broadcast_from_the_second", "broadcast_from", {values({3})}, {{"root", 1}, {"ranks", 2}}},
      {"reduce_to_the_second", "reduce_to", {values({3})}, {{"root", 1}, {"ranks", 2}}},
  };
}

}  // namespace loom::cases
