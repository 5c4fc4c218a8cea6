#include "dropin/cuda/module/image.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/cuda/compute_capability.h"
#include "base/cuda/python_packages.h"
#include "base/file/file.h"
#include "base/printable.h"
#include "dropin/toolchain/container.h"
#include "dropin/toolchain/fat_binary.h"

namespace km::dropin {
namespace {

using toolchain::FatbinImage;
using toolchain::kMaxImageBytes;

constexpr uint32_t kElfMagic = 0x464C457F;

template <class T>
T read_at(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

std::string text_of(std::string_view bytes) {
  return std::string(bytes.substr(0, std::min(bytes.find('\0'), bytes.size())));
}

CUresult invalid_image(const Error& error) {
  return fail(CUDA_ERROR_INVALID_IMAGE, "%s", error.message.c_str());
}

/// Reads a fat binary. `known_bytes` UINT64_MAX: trust the size in the header.
CUresult read_fatbin(const char* image, uint64_t known_bytes, int capability, std::string* out) {
  const auto images = toolchain::list_fatbin(image, known_bytes);
  if (!images) return invalid_image(images.error());
  const auto own = static_cast<uint32_t>(capability);
  if (const FatbinImage* const chosen = toolchain::choose_image(*images, own)) {
    Result<std::string> text = toolchain::ptx_of(*chosen);
    if (!text) return invalid_image(text.error());
    *out = std::move(*text);
    return CUDA_SUCCESS;
  }
  bool has_code = false;
  uint32_t least = UINT32_MAX;  // lowest target of any PTX in the binary
  for (const FatbinImage& each : *images) {
    const bool is_ptx = each.kind == toolchain::ImageKind::kPtx;
    has_code = has_code || !is_ptx;
    if (is_ptx) least = std::min(least, each.capability);
  }
  if (least != UINT32_MAX) {
    return fail(CUDA_ERROR_NO_BINARY_FOR_GPU,
                "the PTX in the fat binary is for compute capability %u.%u; this device has %d.%d. "
                "KM_CPU_CC=%u.%u (kernelmill exec --cc) raises it",
                least / 10, least % 10, capability / 10, capability % 10, least / 10, least % 10);
  }
  const std::string advice = advice_for_python_machine_code();
  return fail(CUDA_ERROR_NO_BINARY_FOR_GPU, "the fat binary holds no PTX that sm_%d can run%s; %s",
              capability, has_code ? ", only machine code of GPUs" : "",
              advice.empty() ? "build it with PTX, for example -gencode arch=compute_75,"
                               "code=compute_75"
                             : advice.c_str());
}

}  // namespace

CUresult read_image(const void* image, size_t size_bytes, int capability, std::string* out) {
  CU_REQUIRE(image);
  const auto* bytes = static_cast<const char*>(image);
  const size_t known = size_bytes != 0 ? size_bytes : strnlen(bytes, sizeof(uint32_t));
  const uint32_t magic = known >= sizeof(uint32_t) ? read_at<uint32_t>(bytes) : 0;
  if (magic == toolchain::kFatbinWrapperMagic) {
    const char* inner = nullptr;
    // A wrapper in a file has a meaningless pointer: only images in memory, which come without a
    // size, may be wrappers.
    if (size_bytes == 0) std::memcpy(&inner, bytes + 8, sizeof inner);
    if (inner == nullptr || read_at<uint32_t>(inner) != toolchain::kFatbinMagic) {
      return fail(CUDA_ERROR_INVALID_IMAGE, "the wrapper points to no fat binary");
    }
    return read_fatbin(inner, UINT64_MAX, capability, out);
  }
  const uint64_t most = size_bytes != 0 ? size_bytes : UINT64_MAX;
  if (magic == toolchain::kFatbinMagic) {
    return read_fatbin(bytes, most, capability, out);
  }
  if (magic == kElfMagic && toolchain::is_container(bytes, most)) {
    const auto container = toolchain::read_container(bytes, most);
    if (!container) return invalid_image(container.error());
    *out = container->ptx;
    return CUDA_SUCCESS;
  }
  if (magic == kElfMagic) {
    const std::string advice = advice_for_python_machine_code();
    return fail(CUDA_ERROR_NO_BINARY_FOR_GPU, "the image is a cubin: machine code of a GPU; %s",
                advice.empty() ? "give PTX instead, for example from `nvcc -ptx`, or by nvcc's "
                                 "-gencode arch=compute_75,code=compute_75"
                               : advice.c_str());
  }
  *out = size_bytes != 0 ? text_of({bytes, size_bytes}) : std::string(bytes);
  if (out->empty()) return fail(CUDA_ERROR_INVALID_IMAGE, "the image is empty");
  return CUDA_SUCCESS;
}

CUresult read_image_file(const char* path, std::string* out) {
  Result<std::string> content = read_file(path, kMaxImageBytes);
  if (content) {
    *out = std::move(*content);
    return CUDA_SUCCESS;
  }
  const Error& error = content.error();
  if (error.status != KM_ERROR_NOT_FOUND) return result_of(error);
  return fail(CUDA_ERROR_FILE_NOT_FOUND, "%s", error.message.c_str());
}

JitLogs::JitLogs(unsigned count, const CUjit_option* options, void** values) {
  if (options == nullptr || values == nullptr) return;
  for (unsigned i = 0; i < count; ++i) read(options[i], &values[i]);
}

void JitLogs::read(CUjit_option option, void** value) {
  const auto number = [](void* given) {
    return static_cast<unsigned>(reinterpret_cast<uintptr_t>(given));
  };
  switch (option) {
    case CU_JIT_INFO_LOG_BUFFER:
      info_.buffer = static_cast<char*>(*value);
      break;
    case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
      info_.keep_size(value);
      break;
    case CU_JIT_ERROR_LOG_BUFFER:
      error_.buffer = static_cast<char*>(*value);
      break;
    case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
      error_.keep_size(value);
      break;
    case CU_JIT_MAX_REGISTERS:
      max_registers_ = number(*value);
      break;
    case CU_JIT_TARGET:
      target_ = number(*value);
      break;
    case CU_JIT_LOG_VERBOSE:
      is_verbose_ = number(*value) != 0;
      break;
    case CU_JIT_WALL_TIME:
      wall_time_ = value;
      break;
    default:
      break;
  }
}

void JitLogs::Log::keep_size(void** value) {
  size = value;
  room = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(*value));
}

void JitLogs::Log::write(const std::string& text) const {
  if (size == nullptr) return;
  size_t written = 0;
  if (buffer != nullptr && room != 0) {
    const size_t length = std::min<size_t>(text.size(), room - 1);
    std::memcpy(buffer, text.data(), length);
    buffer[length] = '\0';
    written = text.empty() ? 0 : length + 1;
  }
  *size = reinterpret_cast<void*>(written);
}

void JitLogs::write(const std::string& info, const std::string& error) const {
  info_.write(printable(info));
  error_.write(printable(error));
}

void JitLogs::write_wall_time(float time_ms) const {
  if (wall_time_ != nullptr) std::memcpy(wall_time_, &time_ms, sizeof time_ms);
}

}  // namespace km::dropin
