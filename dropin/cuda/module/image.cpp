#include "dropin/cuda/module/image.h"

#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/cuda/compute_capability.h"
#include "base/cuda/python_packages.h"
#include "base/file/file.h"
#include "base/printable.h"

namespace km::dropin {
namespace {

constexpr uint32_t kFatbinMagic = 0xBA55ED50;   // begins the container
constexpr uint32_t kWrapperMagic = 0x466243B1;  // begins the wrapper that points to the container
constexpr uint32_t kElfMagic = 0x464C457F;
constexpr uint64_t kMaxImageBytes = uint64_t{1} << 30;

struct FatbinHeader {
  uint32_t magic;
  uint16_t version, header_bytes;
  uint64_t content_bytes;  // after the header
};

/// The header of each image in a fat binary.
struct FatbinEntry {
  uint16_t kind, attributes;
  uint32_t header_bytes;
  uint64_t payload_bytes;
  uint32_t compressed_bytes, options_offset;
  uint16_t minor, major;
  uint32_t capability;
  uint32_t name_offset, name_bytes;
  uint64_t flags;
  uint64_t reserved;
  uint64_t text_bytes;  // size of the text if compressed
};
constexpr uint16_t kKindPtx = 1;
constexpr uint64_t kFlagLz4 = 0x2000, kFlagZstd = 0x8000;

template <class T>
T read_at(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

std::string text_of(std::string_view bytes) {
  return std::string(bytes.substr(0, std::min(bytes.find('\0'), bytes.size())));
}

// Returns null on success or the reason for the failure. The size in a damaged header must not
// cause a huge allocation: the compressed bytes bound how long the result can be.
const char* decompress_lz4(std::string_view from, uint64_t size_bytes, std::string* out) {
  constexpr uint64_t kMostFold = 255;
  if (size_bytes > from.size() * kMostFold) return "it is damaged";
  out->resize(size_bytes);
  const int size = LZ4_decompress_safe(from.data(), out->data(), static_cast<int>(from.size()),
                                       static_cast<int>(size_bytes));
  if (size < 0) return "it is damaged";
  out->resize(static_cast<size_t>(size));
  return nullptr;
}

const char* decompress_zstd(std::string_view from, uint64_t size_bytes, std::string* out) {
  const unsigned long long told = ZSTD_getFrameContentSize(from.data(), from.size());
  if (told == ZSTD_CONTENTSIZE_ERROR) return "it is damaged";
  if (told != ZSTD_CONTENTSIZE_UNKNOWN && told > size_bytes) return "it is damaged";
  out->resize(told != ZSTD_CONTENTSIZE_UNKNOWN ? told : size_bytes);
  const size_t size = ZSTD_decompress(out->data(), out->size(), from.data(), from.size());
  if (ZSTD_isError(size)) return ZSTD_getErrorName(size);
  out->resize(size);
  return nullptr;
}

CUresult read_entry(const FatbinEntry& entry, const char* payload, std::string* out) {
  if ((entry.flags & (kFlagLz4 | kFlagZstd)) == 0) {
    *out = text_of({payload, entry.payload_bytes});
    return CUDA_SUCCESS;
  }
  if (entry.text_bytes > kMaxImageBytes || entry.payload_bytes > kMaxImageBytes) {
    return fail(CUDA_ERROR_INVALID_IMAGE, "the fat binary is damaged: its texts are too long");
  }
  const uint64_t given = entry.compressed_bytes != 0 ? entry.compressed_bytes : entry.payload_bytes;
  const uint64_t stored = std::min<uint64_t>(given, entry.payload_bytes);
  std::string text;
  const char* const why = (entry.flags & kFlagLz4) != 0
                              ? decompress_lz4({payload, stored}, entry.text_bytes, &text)
                              : decompress_zstd({payload, stored}, entry.text_bytes, &text);
  if (why != nullptr) {
    return fail(CUDA_ERROR_INVALID_IMAGE, "the fat binary cannot be decompressed: %s", why);
  }
  *out = text_of(text);
  return CUDA_SUCCESS;
}

/// Reads a fat binary. `known_bytes` UINT64_MAX: trust the size in the header.
CUresult read_fatbin(const char* image, uint64_t known_bytes, int capability, std::string* out) {
  FatbinHeader header{};
  if (known_bytes >= sizeof header) header = read_at<FatbinHeader>(image);
  if (header.header_bytes < sizeof header || header.header_bytes > known_bytes ||
      header.content_bytes > known_bytes - header.header_bytes) {
    return fail(CUDA_ERROR_INVALID_IMAGE, "the fat binary is damaged or incomplete");
  }
  const char* at = image + header.header_bytes;
  const char* const end = at + header.content_bytes;
  struct Found {
    FatbinEntry entry{};
    const char* payload = nullptr;
  };
  Found best, newer;  // `newer`: for a newer device; loads too
  const auto own = static_cast<uint32_t>(capability);
  const uint32_t newest = newest_target(own);
  bool has_code = false;
  uint32_t least = UINT32_MAX;  // lowest target of any PTX in the binary
  while (end - at >= static_cast<ptrdiff_t>(sizeof(FatbinEntry))) {
    const auto entry = read_at<FatbinEntry>(at);
    const auto left = static_cast<uint64_t>(end - at);
    if (entry.header_bytes < sizeof entry || entry.header_bytes > left ||
        entry.payload_bytes > left - entry.header_bytes) {
      return fail(CUDA_ERROR_INVALID_IMAGE, "the fat binary is damaged");
    }
    has_code = has_code || entry.kind != kKindPtx;
    if (entry.kind == kKindPtx) least = std::min(least, entry.capability);
    Found& kept = entry.capability <= own ? best : newer;
    if (entry.kind == kKindPtx && entry.capability <= newest &&
        entry.capability >= kept.entry.capability) {
      kept = {entry, at + entry.header_bytes};
    }
    at += entry.header_bytes + entry.payload_bytes;
  }
  if (best.payload == nullptr) best = newer;
  if (best.payload != nullptr) return read_entry(best.entry, best.payload, out);
  if (least != UINT32_MAX) {
    return fail(CUDA_ERROR_NO_BINARY_FOR_GPU,
                "the PTX in the fat binary is for compute capability %u.%u; this device has %d.%d. "
                "KM_CPU_CC=%u.%u (kernelmill exec --cc) raises it; wgmma and tensor maps are not "
                "there",
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
  if (magic == kWrapperMagic) {
    const char* inner = nullptr;
    // A wrapper in a file has a meaningless pointer: only images in memory, which come without a
    // size, may be wrappers.
    if (size_bytes == 0) std::memcpy(&inner, bytes + 8, sizeof inner);
    if (inner == nullptr || read_at<uint32_t>(inner) != kFatbinMagic) {
      return fail(CUDA_ERROR_INVALID_IMAGE, "the wrapper points to no fat binary");
    }
    return read_fatbin(inner, UINT64_MAX, capability, out);
  }
  if (magic == kFatbinMagic) {
    return read_fatbin(bytes, size_bytes != 0 ? size_bytes : UINT64_MAX, capability, out);
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
  switch (option) {
    case CU_JIT_INFO_LOG_BUFFER:
      info_.buffer = static_cast<char*>(*value);
      break;
    case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
      info_.size = value;
      break;
    case CU_JIT_ERROR_LOG_BUFFER:
      error_.buffer = static_cast<char*>(*value);
      break;
    case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
      error_.size = value;
      break;
    case CU_JIT_MAX_REGISTERS:
      max_registers_ = static_cast<unsigned>(reinterpret_cast<uintptr_t>(*value));
      break;
    default:
      break;
  }
}

void JitLogs::Log::write(const std::string& text) const {
  if (size == nullptr) return;
  const auto room = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(*size));
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

}  // namespace km::dropin
