// Finds object code in the module's object file or the cache on disk instead of compiling.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "base/hash.h"
#include "simt/engine.h"

namespace km::cpu {

using ObjectMap = std::map<std::string, simt::Object>;

/// The key has everything that decides the result of simt::compile. `ptx` is the hash of the
/// program's text.
std::string object_key(const simt::KernelInfo& kernel, const simt::Variant& variant,
                       const Hash128& ptx);

/// Takes the code from `own` or the cache; otherwise takes it from `make` and caches it.
Result<simt::Object> find_or_make_object(const simt::KernelInfo& kernel,
                                         const simt::Variant& variant, const Hash128& ptx,
                                         const ObjectMap& own,
                                         const std::function<Result<simt::Object>()>& make);

}  // namespace km::cpu
