// std::mdspan: copies of the host's pictures and volumes to and from slices, and slices seen as
// mdspans. C++23, if the compiler has it.
#ifndef KERNELMILL_CPP_MDSPAN_HPP
#define KERNELMILL_CPP_MDSPAN_HPP

#include <kernelmill/cpp/memory.hpp>

#if defined(__cpp_lib_mdspan)

#include <array>
#include <mdspan>

namespace km {
inline namespace v1 {
namespace detail {

// Describes a host array of 1 to 3 dimensions as rows, with extent and layout; is_rows is false if
// its elements do not form rows.
template <class Span>
struct host_rows {
  static_assert(Span::rank() >= 1 && Span::rank() <= 3, "copies have one to three dimensions");

  extent size;
  row_layout layout;
  bool is_rows = true;

  explicit host_rows(const Span& array) {
    constexpr std::size_t rank = Span::rank();
    size.width = static_cast<std::uint64_t>(array.extent(rank - 1));
    is_rows = array.stride(rank - 1) == 1;
    if constexpr (rank >= 2) {
      size.height = static_cast<std::uint64_t>(array.extent(rank - 2));
      const auto row = static_cast<std::uint64_t>(array.stride(rank - 2));
      layout.pitch_bytes = row * sizeof(typename Span::element_type);
      is_rows = is_rows && row >= size.width;
      if constexpr (rank == 3) {
        size.depth = static_cast<std::uint64_t>(array.extent(0));
        const auto layer = static_cast<std::uint64_t>(array.stride(0));
        layout.layer_rows = row == 0 ? 0 : layer / row;
        is_rows = is_rows && row != 0 && layer % row == 0;
      }
    }
  }
};

inline error no_rows(const char* call) {
  return error(KM_ERROR_INVALID_ARGUMENT,
               std::string(call) +
                   ": elements of a row have to lie side by side, rows one after the other, and "
                   "layers a number of rows apart; copy the array into such a layout first");
}

}  // namespace detail

/// Copies a host array of 1 to 3 dimensions into a slice, without gaps there, as upload_rows does.
template <class T, class P, class Element, class Extents, class Layout>
  requires std::is_same_v<std::remove_const_t<Element>, T>
detail::result_of<P, void> upload(const basic_stream<P>& stream,
                                  const detail::memory<T, P>& destination,
                                  const std::mdspan<Element, Extents, Layout>& source) {
  const detail::host_rows rows(source);
  if (!rows.is_rows) return P::template refuse<void>(detail::no_rows("km::upload"));
  return destination.upload_rows(stream, source.data_handle(), rows.size, {}, rows.layout);
}

/// Copies a slice without gaps into a host array of 1 to 3 dimensions, as download_rows does.
template <class T, class P, class Extents, class Layout>
detail::result_of<P, void> download(const basic_stream<P>& stream,
                                    const detail::memory<T, P>& source,
                                    const std::mdspan<T, Extents, Layout>& destination) {
  const detail::host_rows rows(destination);
  if (!rows.is_rows) return P::template refuse<void>(detail::no_rows("km::download"));
  return source.download_rows(stream, destination.data_handle(), rows.size, {}, rows.layout);
}

/// The memory of a slice as an array of these extents, if device memory is host memory.
/// KM_ERROR_OUT_OF_BOUNDS when the slice is smaller.
template <class T, class P, class... Extents>
auto host_mdspan(const detail::memory<T, P>& memory, Extents... extents)
    -> detail::result_of<P, std::mdspan<T, std::dextents<std::size_t, sizeof...(Extents)>>> {
  using span = std::mdspan<T, std::dextents<std::size_t, sizeof...(Extents)>>;
  std::uint64_t count = 1;
  ((count = detail::product(count, static_cast<std::uint64_t>(extents))), ...);
  if (count > memory.size()) {
    return P::template refuse<span>(
        error(KM_ERROR_OUT_OF_BOUNDS, "km::host_mdspan: " + std::to_string(count) +
                                          " elements of a slice that has " +
                                          std::to_string(memory.size())));
  }
  void* found = nullptr;
  const km_status status = km_slice_host_pointer(memory.get(), &found);
  return P::give(status, span(static_cast<T*>(found), static_cast<std::size_t>(extents)...));
}

}  // namespace v1
}  // namespace km

#endif
#endif
