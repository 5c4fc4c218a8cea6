// The functions that libcuda.so.1 exports. Each calls the one that a file in api/ defines, whose
// name in the object files begins with km_ (KM_CUDA_OWN_NAMES in cuda/driver.h).
#include "dropin/cuda/callback/exported_symbols.h"
#include "dropin/cuda/callback/listener.h"
#include "dropin/frame/api_calls.h"

namespace km::cu {

#define KM_API_ARGUMENTS(...) __VA_OPT__(, ) __VA_ARGS__
#define KM_API_CALL(symbol, number, parameters, arguments)                                   \
  extern "C" decltype(symbol) own_##symbol KM_SYMBOL_NAME("km_" #symbol);                    \
  CUresult symbol parameters {                                                               \
    return frame::call_own(dropin::api_listener, frame::ApiDomain::kDriver, number, #symbol, \
                           &own_##symbol KM_API_ARGUMENTS arguments);                        \
  }
#include "dropin/cuda/generated/calls.def"
#undef KM_API_CALL
#undef KM_API_ARGUMENTS

}  // namespace km::cu

namespace km::dropin {
namespace {

const ExportedSymbol kSymbols[] = {
#define KM_CUDA_FUNCTION(symbol, base, suffix, version) \
  {base, suffix, version, reinterpret_cast<void*>(&cu::symbol)},
#include "cuda/generated/functions.def"
#undef KM_CUDA_FUNCTION
};

}  // namespace

std::span<const ExportedSymbol> exported_symbols() { return kSymbols; }

}  // namespace km::dropin
