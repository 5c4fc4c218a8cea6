#include "backends/cpu/module/object_cache.h"

#include "backends/cpu/device/entries.h"
#include "base/file/disk_cache.h"
#include "base/log.h"

namespace km::cpu {
namespace {

void log_object(const simt::KernelInfo& kernel, const simt::Variant& variant,
                const simt::Object& object, const char* origin) {
  log(LogLevel::kDebug, "cpu", "kernel '%s' for blocks of %ux%ux%u: %zu bytes of object code, %s",
      kernel.name.c_str(), variant.block[0], variant.block[1], variant.block[2], object.size(),
      origin);
}

}  // namespace

std::string object_key(const simt::KernelInfo& kernel, const simt::Variant& variant,
                       const Hash128& ptx) {
  std::string key = "kernel\n";
  key += code_id();
  key += '\n';
  key += variant.machine.name();
  for (const uint32_t size : variant.block) key += ' ' + std::to_string(size);
  key += variant.assume_no_wrap ? " assume" : " any";
  key += variant.checked ? " checked" : " plain";
  if (variant.tools != 0) key += " tools " + std::to_string(variant.tools);
  key += " mode " + std::to_string(static_cast<int>(variant.least_mode));
  if (variant.thread_stack_bytes != simt::kThreadStackBytes) {
    key += " stack " + std::to_string(variant.thread_stack_bytes);
  }
  return key + '\n' + kernel.name + '\n' + ptx.text();
}

Result<simt::Object> find_or_make_object(const simt::KernelInfo& info, const simt::Variant& variant,
                                         const Hash128& ptx, const ObjectMap& own,
                                         const std::function<Result<simt::Object>()>& make) {
  const std::string key = object_key(info, variant, ptx);
  if (const auto found = own.find(key); found != own.end()) {
    log_object(info, variant, found->second, "from the object file");
    return found->second;
  }
  DiskCache* const cache = simt::dumps_stages() ? nullptr : DiskCache::instance();
  if (cache != nullptr) {
    if (std::optional<simt::Object> kept = cache->find(key)) {
      log_object(info, variant, *kept, "from the cache");
      return std::move(*kept);
    }
  }
  KM_ASSIGN(simt::Object object, make());
  log_object(info, variant, object, "made");
  if (cache != nullptr) cache->keep(key, object);
  return object;
}

}  // namespace km::cpu
