// Parameters of NCCL, which decide how GPUs and networks are used: this library has none.
#include "dropin/nccl/frame/nccl.h"

using namespace km;
using namespace km::nccl;

namespace {

ncclResult_t no_parameter(const char* key) {
  std::string name;
  if (key == nullptr || !library::read_host_text(key, 256, &name)) {
    return invalid("key cannot be read at %p", static_cast<const void*>(key));
  }
  return invalid("there is no parameter %s: this library has none", name.c_str());
}

}  // namespace

extern "C" {

ncclResult_t ncclParamBind(ncclParamHandle_t* out, const char* key) {
  return call([&]() -> ncclResult_t {
    LIB_REQUIRE(out);
    return no_parameter(key);
  });
}

ncclResult_t ncclParamGetParameter(const char* key, [[maybe_unused]] const char** value,
                                   [[maybe_unused]] int* valueLen) {
  return call([&] { return no_parameter(key); });
}

ncclResult_t ncclParamGetAllParameterKeys(const char*** table, int* tableLen) {
  return call([&]() -> ncclResult_t {
    static const char* none[] = {nullptr};
    LIB_TRY(give("table", table, static_cast<const char**>(none)));
    return give("tableLen", tableLen, 0);
  });
}

void ncclParamDumpAll() {}

}  // extern "C"
