// Finds object code in the module's object file or the cache on disk instead of compiling.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/hash.h"
#include "simt/engine.h"

namespace km::cpu {

using ObjectMap = std::map<std::string, simt::Object>;

/// The key has everything that decides the result of simt::compile. `ptx` is the hash of the
/// program's text.
std::string object_key(const simt::KernelInfo& kernel, const simt::Variant& variant,
                       const Hash128& ptx);

/// Takes the code from `own` or the cache; otherwise compiles and caches it, unless `interruption`
/// stops that.
Result<simt::Object> find_or_make_object(const simt::Program& program, uint32_t kernel,
                                         const simt::Variant& variant, const Hash128& ptx,
                                         const ObjectMap& own, const Interruption& interruption);

}  // namespace km::cpu
