#include "backends/cpu/device/entries.h"

#include <cstdio>

#include "km_version.h"

namespace km::cpu {

km_status report(const Error& error, kmb_error* out_error) {
  out_error->native_code = error.native_code;
  const char* text = error.message.empty() ? "the host is out of memory" : error.message.c_str();
  snprintf(out_error->message, sizeof out_error->message, "%s", text);
  return error.status;
}

const char* build_id() { return KM_BUILD_ID; }

}  // namespace km::cpu
