// Core dump settings. No dumps are written; settings are stored so that programs can read them
// back.
#include <cstring>
#include <string>

#include "dropin/cuda/context/context.h"

namespace km::dropin {

using namespace cu;  // NOLINT

namespace {

constexpr size_t kNameBytes = 1024;

/// The size of a setting's value; 0 if the number is unknown.
size_t size_of(CUcoredumpSettings setting) {
  switch (setting) {
    case CU_COREDUMP_ENABLE_ON_EXCEPTION:
    case CU_COREDUMP_TRIGGER_HOST:
    case CU_COREDUMP_LIGHTWEIGHT:
    case CU_COREDUMP_ENABLE_USER_TRIGGER:
      return sizeof(bool);
    case CU_COREDUMP_FILE:
    case CU_COREDUMP_PIPE:
      return kNameBytes;
    case CU_COREDUMP_GENERATION_FLAGS:
      return sizeof(unsigned);
    default:
      return 0;
  }
}

std::string first_value(CUcoredumpSettings setting) {
  std::string value(size_of(setting), '\0');
  if (setting == CU_COREDUMP_TRIGGER_HOST) value[0] = 1;
  return value;
}

/// Values by setting. A context's unset value falls back to the process's value, then to the
/// default.
struct Settings {
  std::mutex mutex;
  std::map<CUcoredumpSettings, std::string> global;
  std::map<std::pair<uint64_t, CUcoredumpSettings>, std::string> of_context;
};

Settings& settings() {
  static Settings& all = *new Settings;  // never destroyed: calls may come during exit
  return all;
}

}  // namespace

/// Reads a setting. `context` 0 means the process.
CUresult get_coredump(uint64_t context, CUcoredumpSettings setting, void* value, size_t* size) {
  CU_REQUIRE(size);
  const size_t bytes = size_of(setting);
  if (bytes == 0) return fail(CUDA_ERROR_INVALID_VALUE, "there is no setting %d", setting);
  if (value == nullptr) {
    *size = bytes;
    return CUDA_SUCCESS;
  }
  Settings& all = settings();
  const std::lock_guard lock(all.mutex);
  const auto own = all.of_context.find({context, setting});
  const auto global = all.global.find(setting);
  const std::string found = own != all.of_context.end()  ? own->second
                            : global != all.global.end() ? global->second
                                                         : first_value(setting);
  const size_t needed = bytes == kNameBytes ? std::strlen(found.c_str()) + 1 : bytes;
  if (*size < needed) {
    return fail(CUDA_ERROR_INVALID_VALUE, "the value has %zu bytes, the buffer %zu", needed, *size);
  }
  std::memcpy(value, found.data(), needed);
  *size = needed;
  return CUDA_SUCCESS;
}

CUresult set_coredump(uint64_t context, CUcoredumpSettings setting, const void* value,
                      const size_t* size) {
  CU_REQUIRE(size);
  CU_REQUIRE(value);
  const size_t bytes = size_of(setting);
  if (bytes == 0) return fail(CUDA_ERROR_INVALID_VALUE, "there is no setting %d", setting);
  const bool fits = bytes == kNameBytes ? *size != 0 && *size <= bytes : *size == bytes;
  if (!fits) {
    return fail(CUDA_ERROR_INVALID_VALUE, "setting %d does not have %zu bytes", setting, *size);
  }
  std::string kept(static_cast<const char*>(value), *size);
  kept.resize(bytes, '\0');
  if (bytes == kNameBytes) kept.back() = '\0';
  Settings& all = settings();
  const std::lock_guard lock(all.mutex);
  if (context != 0) {
    all.of_context[{context, setting}] = std::move(kept);
  } else {
    all.global[setting] = std::move(kept);
  }
  return CUDA_SUCCESS;
}

}  // namespace km::dropin

namespace km::cu {

using namespace km::dropin;  // NOLINT

extern "C" {

CUresult cuCoredumpGetAttribute(CUcoredumpSettings setting, void* value, size_t* size) {
  return guard(__func__, [&]() -> CUresult {
    CU_CURRENT(context);
    return get_coredump(context->id(), setting, value, size);
  });
}

CUresult cuCoredumpGetAttributeGlobal(CUcoredumpSettings setting, void* value, size_t* size) {
  return guard_before_init(__func__, [&] { return get_coredump(0, setting, value, size); });
}

CUresult cuCoredumpSetAttribute(CUcoredumpSettings setting, void* value, size_t* size) {
  return guard(__func__, [&]() -> CUresult {
    CU_CURRENT(context);
    const bool is_of_process =
        setting == CU_COREDUMP_ENABLE_USER_TRIGGER || setting == CU_COREDUMP_PIPE;
    if (is_of_process) {
      return fail(CUDA_ERROR_NOT_PERMITTED, "setting %d belongs to the process", setting);
    }
    return set_coredump(context->id(), setting, value, size);
  });
}

CUresult cuCoredumpSetAttributeGlobal(CUcoredumpSettings setting, void* value, size_t* size) {
  return guard_before_init(__func__, [&] { return set_coredump(0, setting, value, size); });
}

}  // extern "C"

}  // namespace km::cu
