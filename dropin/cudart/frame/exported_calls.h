// Definitions of exported functions, by KM_API_CALL of generated/calls*.def: each calls the one
// that another file defines, whose name in the object files begins with km_ (KM_CUDART_OWN_NAMES).
#pragma once

#include "dropin/cudart/frame/driver.h"
#include "dropin/frame/api_calls.h"

#define KM_API_ARGUMENTS(...) __VA_OPT__(, ) __VA_ARGS__
#define KM_API_CALL(symbol, number, parameters, arguments)                \
  decltype(symbol) own_##symbol KM_SYMBOL_NAME("km_" #symbol);            \
  cudaError_t symbol parameters {                                         \
    return frame::call_own(*api_listener.load(std::memory_order_acquire), \
                           frame::ApiDomain::kRuntime, number, #symbol,   \
                           &own_##symbol KM_API_ARGUMENTS arguments);     \
  }
