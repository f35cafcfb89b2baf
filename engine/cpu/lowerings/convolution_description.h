#pragma once
// A convolution op's numbers as oneDNN wants them, for a part of the batch.
#include "engine/cpu/dnnl_layer.h"
#include "engine/cpu/plan.h"

namespace loom::cpu {

struct ConvolutionDescription {
  dnnl::memory::dims input, weight, output;  // N, channels, space; weight with groups before it where there are any
  dnnl::memory::dims strides, dilation, before, after;
  dnnl::memory::format_tag activations, plainWeight;
  std::int64_t batch = 0, groups = 1;

  using Type = dnnl::memory::data_type;
  static constexpr Type kF32 = Type::f32, kBf16 = Type::bf16;
  dnnl::memory::desc inputOf(std::int64_t samples, Type type = kF32) const { return part(input, samples, type); }
  dnnl::memory::desc outputOf(std::int64_t samples, Type type = kF32) const { return part(output, samples, type); }
  dnnl::memory::desc weights(bool any, Type type = kF32) const {
    return {weight, type, any ? dnnl::memory::format_tag::any : plainWeight};
  }
  std::int64_t inputFloats() const { return product(input) / input[0]; }  // of one sample
  std::int64_t outputFloats() const { return product(output) / output[0]; }
  std::string toString() const;

 private:
  static std::int64_t product(const dnnl::memory::dims& dims);
  dnnl::memory::desc part(dnnl::memory::dims dims, std::int64_t samples, Type type) const {
    dims[0] = samples;
    return {dims, type, activations};
  }
};

// `input` is the shape of the side that a forward convolution reads, `output` of the side it writes.
ConvolutionDescription describeConvolution(const Attributes& attributes, const Shape& input, const Shape& weight,
                                           const Shape& output);

// The samples of thread `index`.
inline std::pair<std::int64_t, std::int64_t> samplesOf(std::int64_t batch, int index, int threads) {
  return {batch * index / threads, batch * (index + 1) / threads};
}

}  // namespace loom::cpu
