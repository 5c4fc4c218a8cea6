// Object code from the cache on disk, or made and put there.
#pragma once

#include "base/hash.h"
#include "simt/engine.h"

namespace km::cpu {

/// `ptx`: of the text that the program was loaded from.
Result<std::unique_ptr<simt::Code>> find_or_make_code(const simt::Program& program, uint32_t kernel,
                                                      const simt::Variant& variant,
                                                      const Hash128& ptx);

}  // namespace km::cpu
