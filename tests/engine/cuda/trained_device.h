#pragma once
// What the networks of training_networks_test.cpp are trained on: the fake device (fake_trained_device.cpp), or the GPU
// of this machine (tests/gpu/cuda/real_trained_device.cpp).
#include <memory>
#include <string>

#include "engine/program/backend.h"

namespace loom::cuda {

// Why there is none; empty where there is one.
std::string lackingTrainedDevice();
// A fake is a new one each time; its first calls are checked byte by byte.
std::unique_ptr<Backend> trainedBackend(int checkedCalls = 0);
// In 16 bits, as far as time allows.
int trainedSteps();

}  // namespace loom::cuda
