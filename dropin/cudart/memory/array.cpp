#include "dropin/cudart/memory/array.h"

#include "dropin/cudart/frame/call.h"

namespace km::cudart {
namespace {

/// A format for channels that all have the same number of bits; a normalized format has exactly
/// `channels` channels.
struct Format {
  CUarray_format driver;
  cudaChannelFormatKind kind;
  int bits;
  unsigned channels = 0;  // 0: the description says how many
};
constexpr Format kFormats[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, cudaChannelFormatKindUnsigned, 8},
    {CU_AD_FORMAT_UNSIGNED_INT16, cudaChannelFormatKindUnsigned, 16},
    {CU_AD_FORMAT_UNSIGNED_INT32, cudaChannelFormatKindUnsigned, 32},
    {CU_AD_FORMAT_SIGNED_INT8, cudaChannelFormatKindSigned, 8},
    {CU_AD_FORMAT_SIGNED_INT16, cudaChannelFormatKindSigned, 16},
    {CU_AD_FORMAT_SIGNED_INT32, cudaChannelFormatKindSigned, 32},
    {CU_AD_FORMAT_HALF, cudaChannelFormatKindFloat, 16},
    {CU_AD_FORMAT_FLOAT, cudaChannelFormatKindFloat, 32},
    {CU_AD_FORMAT_UNORM_INT8X1, cudaChannelFormatKindUnsignedNormalized8X1, 8, 1},
    {CU_AD_FORMAT_UNORM_INT8X2, cudaChannelFormatKindUnsignedNormalized8X2, 8, 2},
    {CU_AD_FORMAT_UNORM_INT8X4, cudaChannelFormatKindUnsignedNormalized8X4, 8, 4},
    {CU_AD_FORMAT_UNORM_INT16X1, cudaChannelFormatKindUnsignedNormalized16X1, 16, 1},
    {CU_AD_FORMAT_UNORM_INT16X2, cudaChannelFormatKindUnsignedNormalized16X2, 16, 2},
    {CU_AD_FORMAT_UNORM_INT16X4, cudaChannelFormatKindUnsignedNormalized16X4, 16, 4},
    {CU_AD_FORMAT_SNORM_INT8X1, cudaChannelFormatKindSignedNormalized8X1, 8, 1},
    {CU_AD_FORMAT_SNORM_INT8X2, cudaChannelFormatKindSignedNormalized8X2, 8, 2},
    {CU_AD_FORMAT_SNORM_INT8X4, cudaChannelFormatKindSignedNormalized8X4, 8, 4},
    {CU_AD_FORMAT_SNORM_INT16X1, cudaChannelFormatKindSignedNormalized16X1, 16, 1},
    {CU_AD_FORMAT_SNORM_INT16X2, cudaChannelFormatKindSignedNormalized16X2, 16, 2},
    {CU_AD_FORMAT_SNORM_INT16X4, cudaChannelFormatKindSignedNormalized16X4, 16, 4},
};

}  // namespace

cudaError_t driver_format(const cudaChannelFormatDesc& channels, ArrayFormat* out) {
  const int bits[] = {channels.x, channels.y, channels.z, channels.w};
  unsigned count = 0;
  while (count < 4 && bits[count] != 0) ++count;
  for (unsigned i = 0; i < 4; ++i) {
    if (bits[i] != (i < count ? bits[0] : 0)) return cudaErrorInvalidChannelDescriptor;
  }
  if (count == 0 || count == 3) return cudaErrorInvalidChannelDescriptor;
  for (const Format& each : kFormats) {
    if (each.kind != channels.f || each.bits != bits[0]) continue;
    if (each.channels != 0 && each.channels != count) continue;
    *out = {each.driver, count};
    return cudaSuccess;
  }
  return cudaErrorInvalidChannelDescriptor;
}

cudaChannelFormatDesc runtime_format(ArrayFormat format) {
  for (const Format& each : kFormats) {
    if (each.driver != format.format) continue;
    const auto bits_of = [&](unsigned channel) {
      return channel < format.channels ? each.bits : 0;
    };
    return {bits_of(0), bits_of(1), bits_of(2), bits_of(3), each.kind};
  }
  return {0, 0, 0, 0, cudaChannelFormatKindNone};
}

cudaError_t element_bytes(CUarray array, size_t* out) {
  CUDA_ARRAY3D_DESCRIPTOR found{};
  LIB_TRY(driver.cuArray3DGetDescriptor_v2(&found, array));
  const cudaChannelFormatDesc channels = runtime_format({found.Format, found.NumChannels});
  const int bits = channels.x + channels.y + channels.z + channels.w;
  if (bits == 0) return cudaErrorNotSupported;
  *out = static_cast<size_t>(bits) / 8;
  return cudaSuccess;
}

}  // namespace km::cudart
