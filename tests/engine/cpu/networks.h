#pragma once
// Small whole networks as programs, forward and backward, and runs of them that can be compared between backends.
#include <map>
#include <string>
#include <vector>

#include "engine/program/backend.h"
#include "engine/program/builder.h"

namespace loom::networks {

// Each with input "x" (f32, or i32 for indices), labels "y" and result "loss"; differentiated.
Program smallCnn(std::int64_t batch);         // convolutions with bias, ReLU, pooling, dropout, linear layers
Program residualNetwork(std::int64_t batch);  // batch normalisation, identity and projected shortcuts, global average
Program thinShortcut(std::int64_t batch);     // a strided 1 x 1 convolution over fewer channels than a vector has
Program stackedLstm(std::int64_t batch);
Program gatedRecurrent(std::int64_t batch);
Program transformerBlock(std::int64_t batch);  // embedding, positions, layer norm, causal attention, GELU
// As deep as those that are trained: 9 residual blocks in three stages; 6 layers with dropout.
Program deepResidualNetwork(std::int64_t batch);
Program deepTransformer(std::int64_t batch);
Program perceptron(std::int64_t batch);  // own kernels only
// With weights so large that their packed copies are made within the step: strided convolution and linear layers; an
// LSTM and a GRU.
Program wideConvolutions(std::int64_t batch);
Program wideRecurrent(std::int64_t batch);
// Linear layers of so few samples that threads share their columns, which are not equally many.
Program wideLayers(std::int64_t batch);
// Of so much work, for a batch of 512, that parts of it are computed in pieces: by Winograd, over pixels, in products.
Program largeParts(std::int64_t batch);
// All extents can be halved, panels and all, for a batch of 32: a linear layer between an LSTM and the classes.
Program evenNetwork(std::int64_t batch);

// Inputs are functions of their name and place: normal numbers, or classes below `classes`.
void fill(Executable& executable, std::int64_t classes);
constexpr std::int64_t kClasses = 5;

// All gradients, states and the loss after one step.
using Outcome = std::map<std::string, std::vector<float>>;
Outcome step(Backend& backend, const Program& program, const CompileOptions& options = {});
Outcome collect(const Executable& executable, const ParameterStore& store);

}  // namespace loom::networks
