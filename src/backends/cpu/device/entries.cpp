#include "backends/cpu/device/entries.h"

#include "km_version.h"

namespace km::cpu {

const char* build_id() { return KM_BUILD_ID; }

}  // namespace km::cpu
