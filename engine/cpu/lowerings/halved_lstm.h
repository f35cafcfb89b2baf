#pragma once
// The loops over time of an LSTM whose products are halved (halved_frames.h), there and back.
#include "engine/cpu/lowerings/recurrent.h"

namespace loom::cpu {

struct LstmBefore {
  Ref<float> h0, c0;  // N x H, or nothing
};
// y (T x N x H) and state (T x N x 5 H), whose gates hold the input side.
void emitHalvedLstm(Plan& plan, const RecurrentShape& shape, TensorId wHidden, const LstmBefore& before,
                    const Ref<float>& state, const Ref<float>& y);

struct LstmSlopes {
  RowsOfFrames dy;
  Ref<float> dh0, dc0;  // what is wanted of them; dc0 wherever dh0 is
};
// da (T x N x 4 H).
void emitHalvedLstmGradient(Plan& plan, const RecurrentShape& shape, TensorId wHidden, const LstmBefore& before,
                            const Ref<float>& state, const LstmSlopes& slopes, const RecurrentBiasGradient& bias,
                            const Ref<float>& da);

}  // namespace loom::cpu
