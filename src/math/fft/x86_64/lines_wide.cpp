// Lines by vectors of 32 bytes.
#include <algorithm>
#include <utility>

#include "base/half_float.h"
#include "math/fft/lines.h"
#include "math/fft/lines_tables.h"

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx,avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt"))), \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx,avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt")
#endif
#define KM_FFT_BYTES 32
#define KM_FFT_NAME wide_lines
#include "math/fft/lines_code.inc"
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
