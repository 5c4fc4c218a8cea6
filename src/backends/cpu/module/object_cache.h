// Object code that need not be made again: from the module's object file or the cache on disk.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/hash.h"
#include "simt/engine.h"

namespace km::cpu {

using ObjectMap = std::map<std::string, simt::Object>;

/// Everything that decides what simt::compile gives. `ptx`: of the text of the program.
std::string object_key(const simt::KernelInfo& kernel, const simt::Variant& variant,
                       const Hash128& ptx);

/// From `own` or the cache, else made and kept in the cache, unless `interruption` ends that.
Result<simt::Object> find_or_make_object(const simt::Program& program, uint32_t kernel,
                                         const simt::Variant& variant, const Hash128& ptx,
                                         const ObjectMap& own, const Interruption& interruption);

}  // namespace km::cpu
