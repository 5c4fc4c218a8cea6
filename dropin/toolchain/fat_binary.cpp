#include "dropin/toolchain/fat_binary.h"

#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "base/cuda/compute_capability.h"
#include "base/integers.h"
#include "dropin/toolchain/container.h"

namespace km::toolchain {
namespace {

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
constexpr uint64_t kFlagLinux64 = 0x11, kFlagLz4 = 0x2000, kFlagZstd = 0x8000;
// Code for one architecture (sm_100a) or its family (sm_100f).
constexpr uint64_t kFlagArchitecture = 0x100000, kFlagFamily = 0x200000;
constexpr uint16_t kVersion = 1, kAttributes = 0x101;
constexpr uint64_t kPayloadAlignment = 8;

template <class T>
T read_at(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

Error damaged(const char* what) { return make_error(KM_ERROR_INVALID_PTX, "%s", what); }

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

bool holds_ptx(const FatbinImage& image) {
  if (image.kind == ImageKind::kPtx) return true;
  if (image.is_compressed()) {
    const auto content = unpack(image);
    return content && is_container(content->data(), content->size());
  }
  return is_container(image.payload.data(), image.payload.size());
}

/// True if a device whose newest target is `newest` may load the image.
bool is_loadable(const FatbinImage& image, uint32_t newest) {
  constexpr uint32_t kUnitsOfMajor = 10;
  if (image.capability > newest) return false;
  if ((image.flags & kFlagArchitecture) != 0) return image.capability == newest;
  const bool is_family = (image.flags & kFlagFamily) != 0;
  return !is_family || image.capability / kUnitsOfMajor == newest / kUnitsOfMajor;
}

std::string compress(const std::string& text) {
  std::string packed(static_cast<size_t>(LZ4_compressBound(static_cast<int>(text.size()))), '\0');
  const int size = LZ4_compress_default(text.data(), packed.data(), static_cast<int>(text.size()),
                                        static_cast<int>(packed.size()));
  packed.resize(size > 0 ? static_cast<size_t>(size) : 0);
  return packed;
}

struct Version {
  uint16_t major, minor;
};
constexpr Version kElfVersion = {1, 7};

/// The version that a PTX text begins with.
Version isa_of(const std::string& text) {
  constexpr std::string_view kDirective = ".version";
  const size_t at = text.find(kDirective);
  unsigned major = 0, minor = 0;
  if (at != text.npos) std::sscanf(&text[at + kDirective.size()], "%u.%u", &major, &minor);
  return {static_cast<uint16_t>(major), static_cast<uint16_t>(minor)};
}

/// The part of an entry's header that names the assembler's options: offset and length, then they.
std::string options_part(const std::string& options) {
  const uint32_t head[2] = {sizeof(FatbinEntry) + sizeof head,
                            static_cast<uint32_t>(options.size())};
  std::string part(reinterpret_cast<const char*>(head), sizeof head);
  part += options;
  part.resize(round_up(part.size() + 1, kPayloadAlignment));
  return part;
}

std::string entry_of(const NewImage& image, bool compresses) {
  std::string payload = image.content;
  FatbinEntry entry{};
  if (compresses && image.kind == ImageKind::kPtx && image.content.size() < kMaxImageBytes) {
    const std::string packed = compress(image.content);
    if (!packed.empty() && packed.size() < image.content.size()) {
      payload = packed;
      entry.compressed_bytes = static_cast<uint32_t>(packed.size());
      entry.text_bytes = image.content.size();
      entry.flags = kFlagLz4;
    }
  }
  // Text that is stored as it is ends in a zero.
  const bool is_plain_text = image.kind == ImageKind::kPtx && entry.text_bytes == 0;
  payload.resize(round_up(payload.size() + (is_plain_text ? 1 : 0), kPayloadAlignment));
  const std::string options = image.kind == ImageKind::kPtx ? options_part(image.options) : "";
  entry.kind = static_cast<uint16_t>(image.kind);
  entry.attributes = kAttributes;
  entry.header_bytes = static_cast<uint32_t>(sizeof entry + options.size());
  entry.options_offset = options.empty() ? 0 : sizeof entry;
  entry.payload_bytes = payload.size();
  const Version version = image.kind == ImageKind::kPtx ? isa_of(image.content) : kElfVersion;
  entry.major = version.major;
  entry.minor = version.minor;
  entry.capability = image.capability;
  entry.flags |= kFlagLinux64;
  return std::string(reinterpret_cast<const char*>(&entry), sizeof entry) + options + payload;
}

}  // namespace

bool FatbinImage::is_compressed() const { return (flags & (kFlagLz4 | kFlagZstd)) != 0; }

Result<std::vector<FatbinImage>> list_fatbin(const char* bytes, uint64_t known_bytes) {
  FatbinHeader header{};
  if (known_bytes >= sizeof header) header = read_at<FatbinHeader>(bytes);
  if (header.magic != kFatbinMagic || header.header_bytes < sizeof header ||
      header.header_bytes > known_bytes ||
      header.content_bytes > known_bytes - header.header_bytes) {
    return damaged("the fat binary is damaged, or not whole");
  }
  const char* at = bytes + header.header_bytes;
  const char* const end = at + header.content_bytes;
  std::vector<FatbinImage> images;
  while (end - at >= static_cast<ptrdiff_t>(sizeof(FatbinEntry))) {
    const auto entry = read_at<FatbinEntry>(at);
    const auto left = static_cast<uint64_t>(end - at);
    if (entry.header_bytes < sizeof entry || entry.header_bytes > left ||
        entry.payload_bytes > left - entry.header_bytes) {
      return damaged("the fat binary is damaged");
    }
    FatbinImage image;
    image.kind = static_cast<ImageKind>(entry.kind);
    image.capability = entry.capability;
    image.major = entry.major;
    image.minor = entry.minor;
    image.flags = entry.flags;
    image.payload = {at + entry.header_bytes, entry.payload_bytes};
    if (image.is_compressed() && entry.compressed_bytes != 0) {
      image.payload = image.payload.substr(0, entry.compressed_bytes);
    }
    image.unpacked_bytes = entry.text_bytes;
    images.push_back(image);
    at += entry.header_bytes + entry.payload_bytes;
  }
  return images;
}

bool has_link_time_image(std::string_view bytes) {
  uint32_t magic = 0;
  if (bytes.size() < sizeof magic) return false;
  std::memcpy(&magic, bytes.data(), sizeof magic);
  if (magic != kFatbinMagic) return false;
  const auto images = list_fatbin(bytes.data(), bytes.size());
  return images && std::any_of(images->begin(), images->end(), [](const FatbinImage& image) {
           return image.kind == ImageKind::kLinkTimeCode;
         });
}

uint64_t fatbin_bytes(const char* bytes) {
  const auto header = read_at<FatbinHeader>(bytes);
  return header.header_bytes + header.content_bytes;
}

Result<std::string> unpack(const FatbinImage& image) {
  std::string content(image.is_compressed() ? std::string_view() : image.payload);
  if (image.is_compressed()) {
    if (image.unpacked_bytes > kMaxImageBytes || image.payload.size() > kMaxImageBytes) {
      return damaged("the fat binary is damaged: its texts are too long");
    }
    const char* const why = (image.flags & kFlagLz4) != 0
                                ? decompress_lz4(image.payload, image.unpacked_bytes, &content)
                                : decompress_zstd(image.payload, image.unpacked_bytes, &content);
    if (why != nullptr) {
      return make_error(KM_ERROR_INVALID_PTX, "the fat binary cannot be decompressed: %s", why);
    }
  }
  if (image.kind == ImageKind::kPtx) content.resize(std::min(content.find('\0'), content.size()));
  return content;
}

Result<std::string> ptx_of(const FatbinImage& image) {
  KM_ASSIGN(std::string content, unpack(image));
  if (image.kind == ImageKind::kPtx) return content;
  KM_ASSIGN(const Container container, read_container(content.data(), content.size()));
  return std::string(container.ptx);
}

const FatbinImage* choose_image(std::span<const FatbinImage> images, uint32_t capability) {
  const FatbinImage* best = nullptr;
  const FatbinImage* newer = nullptr;
  const uint32_t newest = newest_target(capability);
  for (const FatbinImage& image : images) {
    const FatbinImage*& kept = image.capability <= capability ? best : newer;
    if (!is_loadable(image, newest) || !holds_ptx(image)) continue;
    if (kept == nullptr || image.capability >= kept->capability) kept = &image;
  }
  return best != nullptr ? best : newer;
}

std::string write_fatbin(std::span<const NewImage> images, bool compresses) {
  std::string entries;
  for (const NewImage& image : images) entries += entry_of(image, compresses);
  const FatbinHeader header{kFatbinMagic, kVersion, sizeof(FatbinHeader), entries.size()};
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + entries;
}

}  // namespace km::toolchain
