#pragma once
// A GPU that is not here, known by its properties: programs are planned for it, and nothing runs.
#include <memory>

#include "engine/cuda/device.h"

namespace loom::cuda {

// Answers facts() and plan(); everything else is Error(internal). What cuDNN 9 computes is taken for granted, with as
// large a workspace as its tensors are together (256 MiB at most), but for what it has shown to have no engine for or
// has not answered without a device: graphs of several operations in unrounded f32, and a weight gradient of 16-bit
// factors in f32. Those are refused.
std::shared_ptr<Device> makePlannedDevice(DeviceFacts facts);

}  // namespace loom::cuda
