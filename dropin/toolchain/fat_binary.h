// Fat binaries: images of one module for several GPUs, as nvcc puts them into programs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace km::toolchain {

constexpr uint32_t kFatbinMagic = 0xBA55ED50;         // begins a fat binary
constexpr uint32_t kFatbinWrapperMagic = 0x466243B1;  // begins the wrapper that points to one
constexpr uint64_t kMaxImageBytes = uint64_t{1} << 30;

enum class ImageKind : uint16_t { kPtx = 1, kElf = 2, kLinkTimeCode = 8 };

/// One image of a fat binary. Its bytes are a part of the binary's.
struct FatbinImage {
  ImageKind kind{};
  uint32_t capability = 0;
  uint16_t major = 0, minor = 0;  // of the PTX ISA, or of the format of cubins
  uint64_t flags = 0;
  std::string_view payload;     // as it is stored
  uint64_t unpacked_bytes = 0;  // if it is compressed
  bool is_compressed() const;
};

/// Lists the images. `known_bytes` UINT64_MAX: trust the size in the header. KM_ERROR_INVALID_PTX
/// if the binary is damaged or not whole.
Result<std::vector<FatbinImage>> list_fatbin(const char* bytes, uint64_t known_bytes);

/// True for a whole fat binary with code for link-time optimisation (LTO-IR).
bool has_link_time_image(std::string_view bytes);

/// The size of a whole fat binary that list_fatbin() accepts.
uint64_t fatbin_bytes(const char* bytes);

/// The content of an image: of PTX the text up to its first zero, of others all bytes.
Result<std::string> unpack(const FatbinImage& image);

/// The PTX of an image: its text, or that of a container; nothing if it is other machine code.
Result<std::string> ptx_of(const FatbinImage& image);

/// The image whose PTX suits a device best: the newest that is not newer than the device, or else
/// one that runs on it all the same. Null if there is none.
const FatbinImage* choose_image(std::span<const FatbinImage> images, uint32_t capability);

/// An image to be written.
struct NewImage {
  ImageKind kind{};
  uint32_t capability = 0;
  std::string content;
  std::string options;  // of the assembler, kept with PTX
};
/// Makes a fat binary. PTX is compressed by LZ4 on request, as nvcc does.
std::string write_fatbin(std::span<const NewImage> images, bool compresses);

}  // namespace km::toolchain
