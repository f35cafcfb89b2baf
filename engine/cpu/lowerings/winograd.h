#pragma once
// Convolutions by kernels/winograd.h, where that takes fewer cycles than the products themselves. Which way is a
// function of the shape of one sample, the channels, the precision and the processor's instructions (and of threads
// only where the weights of so many would not fit): the same for any batch, on any number of ranks, and when a run is
// resumed. Or as CpuWays says.
#include <optional>

#include "engine/cpu/kernels/winograd.h"
#include "engine/cpu/lowerings/convolution_description.h"

namespace loom::cpu {

enum class ConvolutionPart { forward, inputGradient, weightGradient };

// Empty where another way is faster or there is none by this one. For the input gradient: the convolution of the
// output's gradient with the turned weight.
std::optional<WinogradGeometry> winogradOf(const Plan& plan, const ConvolutionDescription& g, ConvolutionPart part);

// y = conv(x, w) (+ bias)(, ReLU); with `turned` (the input gradient) x is the output's gradient and y the input's.
void emitWinograd(Plan& plan, const WinogradGeometry& g, const std::string& name, TensorId x, TensorId w, bool turned,
                  TensorId bias, bool relu, TensorId y);
void emitWinogradWeightGradient(Plan& plan, const WinogradGeometry& g, const std::string& name, TensorId x, TensorId dy,
                                TensorId dw);

}  // namespace loom::cpu
