#include "backends/cpu/object_cache.h"

#include "backends/cpu/entries.h"
#include "base/disk_cache.h"
#include "base/log.h"

namespace km::cpu {
namespace {

/// Everything that decides what simt::compile gives.
std::string key_of(const simt::KernelInfo& kernel, const simt::Variant& variant,
                   const Hash128& ptx) {
  std::string key = "kernel\n";
  key += build_id();
  key += '\n';
  key += simt::text_of(variant.isa);
  for (const uint32_t size : variant.block) key += ' ' + std::to_string(size);
  key += variant.assume_no_wrap ? " assume" : " any";
  key += variant.checked ? " checked" : " plain";
  key += " mode " + std::to_string(static_cast<int>(variant.least_mode));
  return key + '\n' + kernel.name + '\n' + ptx.text();
}

void log_code(const simt::KernelInfo& kernel, const simt::Variant& variant,
              const simt::Object& object, const char* origin) {
  log(LogLevel::kDebug, "cpu", "kernel '%s' for blocks of %ux%ux%u: %zu bytes of object code, %s",
      kernel.name.c_str(), variant.block[0], variant.block[1], variant.block[2], object.size(),
      origin);
}

}  // namespace

Result<std::unique_ptr<simt::Code>> find_or_make_code(const simt::Program& program, uint32_t kernel,
                                                      const simt::Variant& variant,
                                                      const Hash128& ptx) {
  const simt::KernelInfo& info = program.kernels()[kernel];
  DiskCache* const cache = simt::dumps_stages() ? nullptr : DiskCache::instance();
  std::string key;
  if (cache != nullptr) {
    key = key_of(info, variant, ptx);
    if (const std::optional<simt::Object> kept = cache->find(key)) {
      log_code(info, variant, *kept, "from the cache");
      auto code = simt::Code::load(*kept);
      if (code) return code;
    }
  }
  KM_ASSIGN(const simt::Object object, simt::compile(program, kernel, variant));
  log_code(info, variant, object, "made");
  KM_ASSIGN(std::unique_ptr<simt::Code> code, simt::Code::load(object));
  if (cache != nullptr) cache->keep(key, object);
  return code;
}

}  // namespace km::cpu
