#include "backends/cpu/device/entries.h"

#include "km_version.h"

namespace km::cpu {

const char* code_id() { return KM_CODE_ID; }

}  // namespace km::cpu
