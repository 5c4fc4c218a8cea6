// Fetches with AVX-512.
#include "simt/runtime/texture.h"

#if defined(__clang__)
#pragma clang attribute push(                                                                   \
    __attribute__((                                                                             \
        target("avx,avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512dq"))), \
    apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx,avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512dq")
#pragma GCC target("prefer-vector-width=512")
#endif
#define KM_TEXTURE_FETCH fetch_texture_widest
#include "simt/runtime/texture_fetch.inc"
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
