#pragma once
// What one thread of this processor multiplies and adds at most, measured once: independent sums in registers.

// Processor time of the calling thread.
double threadSeconds();
// Billions of floating-point operations a second: f32 multiply-adds of the widest vectors that kernels may use, or
// vdpbf16ps where there is one (else as f32).
double peakGigaflops(bool bf16);
// What the f32 peak says of the clock, where one vector of 64 bytes is multiplied a cycle; on processors that do two,
// twice the clock.
double clockGigahertz();
