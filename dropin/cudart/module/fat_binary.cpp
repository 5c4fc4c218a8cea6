#include "dropin/cudart/module/fat_binary.h"

#include <cstring>

#include "base/log.h"
#include "dropin/cudart/frame/call.h"

namespace km::cudart {
namespace {

constexpr uint32_t kWrapperMagic = 0x466243B1, kFatbinMagic = 0xBA55ED50;
constexpr uint32_t kVersionOfLinking = 2;

struct Wrapper {
  uint32_t magic, version;
  const void* data;
  const void* const* prelinked;  // version 2: fat binaries of relocatable code, ending with null
};

struct FatbinHeader {
  uint32_t magic;
  uint16_t version, header_bytes;
  uint64_t content_bytes;  // after the header
};

/// Returns 0 if the bytes are not a fat binary.
size_t size_of(const void* fatbin) {
  FatbinHeader header{};
  std::memcpy(&header, fatbin, sizeof header);
  return header.magic == kFatbinMagic ? header.header_bytes + header.content_bytes : 0;
}

cudaError_t load(const void* image, CUlibrary* out) {
  return driver.cuLibraryLoadData(out, image, nullptr, nullptr, 0, nullptr, nullptr, 0);
}

cudaError_t add_all(CUlinkState state, const void* const* fatbins) {
  for (; *fatbins != nullptr; ++fatbins) {
    LIB_TRY(driver.cuLinkAddData_v2(state, CU_JIT_INPUT_FATBINARY, const_cast<void*>(*fatbins),
                                    size_of(*fatbins), "fat binary", 0, nullptr, nullptr));
  }
  return cudaSuccess;
}

cudaError_t link_and_load(const void* const* fatbins, CUlibrary* out) {
  CUlinkState state = nullptr;
  LIB_TRY(driver.cuLinkCreate_v2(0, nullptr, nullptr, &state));
  void* image = nullptr;
  size_t size_bytes = 0;
  cudaError_t result = add_all(state, fatbins);
  if (result == cudaSuccess) result = driver.cuLinkComplete(state, &image, &size_bytes);
  if (result == cudaSuccess) result = load(image, out);
  driver.cuLinkDestroy(state);
  return result;
}

}  // namespace

cudaError_t load_fat_binary(const void* wrapper, CUlibrary* out) {
  LIB_REQUIRE(wrapper);
  Wrapper head{};
  std::memcpy(&head, wrapper, sizeof head);
  if (head.magic != kWrapperMagic || head.data == nullptr) {
    log(LogLevel::kInfo, "cuda",
        "the registered data is not a fat binary: its magic number is 0x%x", head.magic);
    return cudaErrorInvalidKernelImage;
  }
  if (head.version == kVersionOfLinking && head.prelinked != nullptr) {
    return link_and_load(head.prelinked, out);
  }
  return load(head.data, out);
}

}  // namespace km::cudart
