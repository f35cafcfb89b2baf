// Steps of lstm and gru and of their gradients (engine/ops/lstm.cpp, gru.cpp), between the products.
#include "engine/cuda/kernels/language.h"
#include "engine/cuda/kernels/recurrent.h"

namespace loom::cuda {

__device__ __forceinline__ float logistic(float x) {
  return 1.0f / (1.0f + expf(-x));
}

template <class T>
__global__ void __launch_bounds__(256) lstmCell(LstmCellArguments a) {
  const std::int64_t H = a.hidden;
  for (std::int64_t at = firstOfThread(); at < a.samples * H; at += threadsOfGrid()) {
    const std::int64_t sample = at / H, u = at % H;
    const float* const gates = a.gates + sample * a.gateStride + u;
    float* const state = a.state + sample * a.stateStride + u;
    const float i = logistic(gates[0]), f = logistic(gates[H]), g = tanhf(gates[2 * H]), o = logistic(gates[3 * H]);
    const float c = f * (a.cBefore == nullptr ? 0.0f : a.cBefore[at]) + i * g, h = o * tanhf(c);
    state[0] = i;
    state[H] = f;
    state[2 * H] = g;
    state[3 * H] = o;
    state[4 * H] = c;
    a.c[at] = c;
    a.y[sample * a.yStride + u] = h;
    static_cast<T*>(a.h)[at] = fromFloat<T>(h);
  }
}

template <class T>
__global__ void __launch_bounds__(256) lstmCellGradient(LstmCellGradientArguments a) {
  const std::int64_t H = a.hidden;
  for (std::int64_t at = firstOfThread(); at < a.samples * H; at += threadsOfGrid()) {
    const std::int64_t sample = at / H, u = at % H;
    const float* const state = a.state + sample * a.stateStride + u;
    const float i = state[0], f = state[H], g = state[2 * H], o = state[3 * H], t = tanhf(state[4 * H]);
    const float before = a.cBefore == nullptr ? 0.0f : a.cBefore[sample * a.cBeforeStride + u];
    const float dh = a.dy[sample * a.dyStride + u] + (a.dh == nullptr ? 0.0f : a.dh[at]);
    const float dc = (a.last ? 0.0f : a.dc[at]) + dh * o * (1.0f - t * t);
    T* const da = static_cast<T*>(a.da) + sample * a.daStride + u;
    T* const step = static_cast<T*>(a.step) + sample * 4 * H + u;
    da[0] = step[0] = fromFloat<T>(dc * g * i * (1.0f - i));
    da[H] = step[H] = fromFloat<T>(dc * before * f * (1.0f - f));
    da[2 * H] = step[2 * H] = fromFloat<T>(dc * i * (1.0f - g * g));
    da[3 * H] = step[3 * H] = fromFloat<T>(dh * t * o * (1.0f - o));
    a.dc[at] = dc * f;
  }
}

template <class T>
__global__ void __launch_bounds__(256) gruCell(GruCellArguments a) {
  const std::int64_t H = a.hidden;
  for (std::int64_t at = firstOfThread(); at < a.samples * H; at += threadsOfGrid()) {
    const std::int64_t sample = at / H, j = at % H;
    const float* const gates = a.gates + sample * a.gateStride + j;
    float* const state = a.state + sample * a.stateStride + j;
    float hiddenSide[3] = {0.0f, 0.0f, 0.0f};
    for (int gate = 0; gate < 3; ++gate) {
      if (a.product != nullptr) hiddenSide[gate] += a.product[(sample * 3 + gate) * H + j];
      if (a.bias != nullptr) hiddenSide[gate] += a.bias[gate * H + j];
    }
    const float r = logistic(gates[0] + hiddenSide[0]), z = logistic(gates[H] + hiddenSide[1]), u = hiddenSide[2];
    const float n = tanhf(gates[2 * H] + r * u);
    const float h = (1.0f - z) * n + z * (a.hBefore == nullptr ? 0.0f : a.hBefore[at]);
    state[0] = r;
    state[H] = z;
    state[2 * H] = n;
    state[3 * H] = u;
    a.h[at] = h;
    a.y[sample * a.yStride + j] = h;
    if (a.factor != nullptr) static_cast<T*>(a.factor)[at] = fromFloat<T>(h);
  }
}

template <class T>
__global__ void __launch_bounds__(256) gruCellGradient(GruCellGradientArguments a) {
  const std::int64_t H = a.hidden;
  for (std::int64_t at = firstOfThread(); at < a.samples * H; at += threadsOfGrid()) {
    const std::int64_t sample = at / H, j = at % H;
    const float* const state = a.state + sample * a.stateStride + j;
    const float r = state[0], z = state[H], n = state[2 * H], u = state[3 * H];
    const float before = a.hBefore == nullptr ? 0.0f : a.hBefore[sample * a.yStride + j];
    const float dh = (a.last ? 0.0f : a.dh[at]) + a.dy[sample * a.yStride + j];
    const float dn = dh * (1.0f - z) * (1.0f - n * n);
    const float dr = dn * u * r * (1.0f - r), dz = dh * (before - n) * z * (1.0f - z);
    T* const input = static_cast<T*>(a.input) + sample * a.sideStride + j;
    T* const side = static_cast<T*>(a.side) + sample * a.sideStride + j;
    T* const step = static_cast<T*>(a.step) + sample * 3 * H + j;
    input[0] = side[0] = step[0] = fromFloat<T>(dr);
    input[H] = side[H] = step[H] = fromFloat<T>(dz);
    input[2 * H] = fromFloat<T>(dn);
    side[2 * H] = step[2 * H] = fromFloat<T>(dn * r);
    a.dh[at] = dh * z;
  }
}

template <class T>
__global__ void __launch_bounds__(256) recurrentShift(RecurrentShiftArguments a) {
  T* const to = static_cast<T*>(a.to);
  for (std::int64_t at = firstOfThread(); at < a.samples * a.time * a.hidden; at += threadsOfGrid()) {
    const std::int64_t u = at % a.hidden, row = at / a.hidden, t = row % a.time;
    const std::int64_t earlier = a.reverse ? t + 1 : t - 1;
    float value = 0;
    if (earlier >= 0 && earlier < a.time)
      value = a.y[at + (earlier - t) * a.hidden];
    else if (a.h0 != nullptr)
      value = a.h0[row / a.time * a.hidden + u];
    to[at] = fromFloat<T>(value);
  }
}

LOOM_KERNELS(recurrent, LOOM_KERNEL("lstm_cell", lstmCell, LstmCellArguments),
             LOOM_KERNEL("lstm_cell_gradient", lstmCellGradient, LstmCellGradientArguments),
             LOOM_KERNEL("gru_cell", gruCell, GruCellArguments),
             LOOM_KERNEL("gru_cell_gradient", gruCellGradient, GruCellGradientArguments),
             LOOM_KERNEL("recurrent_shift", recurrentShift, RecurrentShiftArguments))

}  // namespace loom::cuda
