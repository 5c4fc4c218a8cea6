// Compares our prototype of a function with NVIDIA's.
#pragma once

#include <type_traits>

namespace km {

/// Types that a call passes in the same way: pointers, and numbers of one size.
template <class Ours, class Theirs>
constexpr bool are_alike() {
  if constexpr (std::is_pointer_v<Ours> || std::is_pointer_v<Theirs>) {
    return std::is_pointer_v<Ours> && std::is_pointer_v<Theirs>;
  } else {
    return sizeof(Ours) == sizeof(Theirs) && std::is_integral_v<Ours> == std::is_integral_v<Theirs>;
  }
}

template <class Ours, class Theirs>
constexpr bool g_same = false;
template <class Ours, class... OurParameters, class Theirs, class... TheirParameters>
  requires(sizeof...(OurParameters) == sizeof...(TheirParameters))
constexpr bool g_same<Ours (*)(OurParameters...), Theirs (*)(TheirParameters...)> =
    are_alike<Ours, Theirs>() && (are_alike<OurParameters, TheirParameters>() && ...);

}  // namespace km
