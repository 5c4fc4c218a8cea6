// Functions of cuDNN's smaller libraries, which are those of libcudnn.so.9.
#pragma once

#include "base/arch/symbol_version.h"
#include "dropin/cudnn/generated/api.h"

/// Defines a function that calls the one of the same name in libcudnn.so.9.
#define KM_CUDNN_FORWARD(symbol, result, parameters, arguments)    \
  extern "C" result km_forward_##symbol parameters;                \
  KM_SYMBOL_VERSION(km_forward_##symbol, symbol, "libcudnn.so.9"); \
  extern "C" result symbol parameters { return km_forward_##symbol arguments; }
