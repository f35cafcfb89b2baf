#pragma once
// Convolutions by kernels/pixels.h: as matrix products over pixels, where those are faster than oneDNN's. Which way is
// a function of shapes, precision and the processor's instructions alone: the same on all ranks of a machine, and when
// a run is resumed there. Or as CpuWays says.
#include <optional>

#include "engine/cpu/kernels/pixels.h"
#include "engine/cpu/lowerings/winograd.h"

namespace loom::cpu {

// Empty where another way is faster or there is none by this one. Forward and to the input: kernels of one tap.
std::optional<PixelGeometry> pixelsOf(const Plan& plan, const ConvolutionDescription& g, ConvolutionPart part);

// y = conv(x, w) (+ bias)(, ReLU)
void emitPixels(Plan& plan, const PixelGeometry& g, const std::string& name, TensorId x, TensorId w, TensorId bias,
                bool relu, TensorId y);
void emitPixelInputGradient(Plan& plan, const PixelGeometry& g, const std::string& name, TensorId dy, TensorId w,
                            TensorId dx);
void emitPixelWeightGradient(Plan& plan, const PixelGeometry& g, const std::string& name, TensorId x, TensorId dy,
                             TensorId dw);

}  // namespace loom::cpu
