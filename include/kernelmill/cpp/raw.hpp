// Copies and fills by raw device address, for programs that manage addresses themselves. The
// addresses are checked against the allocations of the context.
#ifndef KERNELMILL_CPP_RAW_HPP
#define KERNELMILL_CPP_RAW_HPP

#include <kernelmill/cpp/memory.hpp>

namespace km {
inline namespace v1 {
namespace raw {

/// Copies `size_bytes` from the host, in stream order, like basic_slice::upload.
/// KM_ERROR_OUT_OF_BOUNDS when they do not lie inside one allocation, here and below.
template <class P>
detail::result_of<P, void> upload(const basic_stream<P>& stream, device_address destination,
                                  const void* source, std::uint64_t size_bytes) {
  return P::give(km_memory_upload(stream.get(), destination.value, source, size_bytes));
}
/// Copies `size_bytes` to the host, like basic_slice::download.
template <class P>
detail::result_of<P, void> download(const basic_stream<P>& stream, device_address source,
                                    void* destination, std::uint64_t size_bytes) {
  return P::give(km_memory_download(stream.get(), source.value, destination, size_bytes));
}
/// Copies within the device.
template <class P>
detail::result_of<P, void> copy(const basic_stream<P>& stream, device_address destination,
                                device_address source, std::uint64_t size_bytes) {
  return P::give(km_memory_copy(stream.get(), destination.value, source.value, size_bytes));
}
/// Copies between two contexts of a backend.
template <class P>
detail::result_of<P, void> copy_peer(const basic_stream<P>& stream,
                                     const detail::any_context& destination_context,
                                     device_address destination,
                                     const detail::any_context& source_context,
                                     device_address source, std::uint64_t size_bytes) {
  return P::give(km_memory_copy_peer(stream.get(), destination_context.get(), destination.value,
                                     source_context.get(), source.value, size_bytes));
}
/// Writes a value of 1, 2 or 4 bytes `count` times.
template <class P, class T>
detail::result_of<P, void> fill(const basic_stream<P>& stream, device_address address,
                                const T& value, std::uint64_t count) {
  const std::uint32_t bits = detail::fill_bits(value);
  if constexpr (sizeof(T) == 4) {
    return P::give(km_memory_fill_u32(stream.get(), address.value, bits, count));
  } else if constexpr (sizeof(T) == 2) {
    return P::give(
        km_memory_fill_u16(stream.get(), address.value, static_cast<std::uint16_t>(bits), count));
  } else {
    return P::give(
        km_memory_fill_u8(stream.get(), address.value, static_cast<std::uint8_t>(bits), count));
  }
}
/// Writes a value to rows that begin `pitch_bytes` apart.
template <class P, class T>
detail::result_of<P, void> fill_rows(const basic_stream<P>& stream, device_address address,
                                     const T& value, std::uint64_t pitch_bytes, std::uint64_t width,
                                     std::uint64_t height) {
  return P::give(km_memory_fill_2d(stream.get(), address.value, pitch_bytes,
                                   detail::fill_bits(value), sizeof(T), width, height));
}
/// Copies rows; offsets of `copy` count from the addresses.
template <class P>
detail::result_of<P, void> upload_rows(const basic_stream<P>& stream, device_address destination,
                                       const void* source, const km_copy_3d& copy) {
  return P::give(km_memory_upload_3d(stream.get(), destination.value, source, &copy));
}
template <class P>
detail::result_of<P, void> download_rows(const basic_stream<P>& stream, device_address source,
                                         void* destination, const km_copy_3d& copy) {
  return P::give(km_memory_download_3d(stream.get(), source.value, destination, &copy));
}
template <class P>
detail::result_of<P, void> copy_rows(const basic_stream<P>& stream, device_address destination,
                                     device_address source, const km_copy_3d& copy) {
  return P::give(km_memory_copy_3d(stream.get(), destination.value, source.value, &copy));
}

}  // namespace raw
}  // namespace v1
}  // namespace km

#endif
