// Lines by vectors of 64 bytes.
#include <algorithm>
#include <utility>

#include "base/half_float.h"
#include "math/fft/lines.h"
#include "math/fft/lines_tables.h"

#if defined(__clang__)
#pragma clang attribute push(                                                                   \
    __attribute__((                                                                             \
        target("avx,avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512dq"))), \
    apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx,avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512dq")
#endif
#define KM_FFT_BYTES 64
#define KM_FFT_NAME widest_lines
#include "math/fft/lines_code.inc"
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
