#include "spirv/spirv.h"

namespace km::spirv {

Result<std::shared_ptr<const Program>> Program::load(std::shared_ptr<const ptx::Module>,
                                                     const DeviceFacts&) {
  return make_error(KM_ERROR_NOT_SUPPORTED, "SPIR-V is not generated yet");
}

Result<Code> translate(const Program&, uint32_t, const Options&) {
  return make_error(KM_ERROR_NOT_SUPPORTED, "SPIR-V is not generated yet");
}

}  // namespace km::spirv
