// cuGetProcAddress: finds symbols by base name, CUDA version and kind of default stream.
#include <string_view>

#include "dropin/cuda/callback/exported_symbols.h"
#include "dropin/cuda/frame/call.h"

namespace km::cu {

using namespace km::dropin;  // NOLINT

namespace {

struct Search {
  const ExportedSymbol* best = nullptr;
  bool name_exists = false;

  void look(std::string_view base, bool per_thread, int version) {
    for (const ExportedSymbol& each : exported_symbols()) {
      if (base != each.base || (each.suffix[0] != '\0') != per_thread) continue;
      name_exists = true;
      if (each.version <= version && (best == nullptr || each.version >= best->version)) {
        best = &each;
      }
    }
  }
};

CUresult find_symbol(const char* name, void** out, int version, cuuint64_t flags,
                     CUdriverProcAddressQueryResult* out_status) {
  CU_REQUIRE(name);
  CU_REQUIRE(out);
  if (flags > CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) {
    return fail(CUDA_ERROR_INVALID_VALUE, "flags is %llu", flags);
  }
  Search search;
  if (flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) search.look(name, true, version);
  if (search.best == nullptr) search.look(name, false, version);
  *out = search.best != nullptr ? search.best->address : nullptr;
  const CUdriverProcAddressQueryResult status = search.best != nullptr ? CU_GET_PROC_ADDRESS_SUCCESS
                                                : search.name_exists
                                                    ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                                    : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  if (out_status != nullptr) *out_status = status;
  if (search.best != nullptr) return CUDA_SUCCESS;
  return out_status != nullptr ? CUDA_SUCCESS
                               : fail(CUDA_ERROR_NOT_FOUND, "there is no '%.100s'", name);
}

}  // namespace

extern "C" {

CUresult cuGetProcAddress_v2(const char* name, void** out, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
  return guard_anywhere(__func__, [&] { return find_symbol(name, out, version, flags, status); });
}

CUresult cuGetProcAddress(const char* name, void** out, int version, cuuint64_t flags) {
  return guard_anywhere(__func__, [&] { return find_symbol(name, out, version, flags, nullptr); });
}

}  // extern "C"

}  // namespace km::cu
