// LAPACK of the OpenBLAS that is found, called by its Fortran names.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "base/process/dylib.h"
#include "math/lapack/scalar.h"

namespace km::math {

enum Routine : uint8_t {
#define KM_LAPACK(routine, s, d, c, z) routine,
#include "math/lapack/lapack.def"
#undef KM_LAPACK
  kRoutineCount
};

/// The addresses of all routines, by type.
struct LapackRoutines {
  void* of[kRoutineCount][4];
};

/// Looks the routines up in an opened OpenBLAS, whose file is at `path`. KM_ERROR_BLAS_UNAVAILABLE
/// if it lacks one.
Result<LapackRoutines> find_lapack(const Dylib& library, const std::string& path);

/// Makes lapack() call these routines, which stay until the process ends.
void use_lapack(const LapackRoutines& routines);

/// The routine's address. use_lapack() was called.
void* lapack_routine(Routine routine, Type type) noexcept;

namespace detail {

/// Fortran takes all arguments by address: numbers and letters by that of a copy.
template <class T>
const void* pass(const T& argument) {
  if constexpr (std::is_pointer_v<T>) {
    return argument;
  } else {
    return &argument;
  }
}
inline const void* pass(std::nullptr_t) { return nullptr; }

template <class T>
using Passed = const void*;
template <size_t>
using Length = size_t;

template <size_t... kLetters, class... Arguments>
void invoke(void* function, std::index_sequence<kLetters...>, const Arguments&... arguments) {
  using Function = void (*)(Passed<Arguments>..., Length<kLetters>...);
  reinterpret_cast<Function>(function)(pass(arguments)..., (static_cast<void>(kLetters), 1)...);
}

}  // namespace detail

/// Calls a routine for elements of type T. `char` arguments are letters, whose lengths follow the
/// other arguments.
template <class T, class... Arguments>
void lapack(Routine routine, const Arguments&... arguments) {
  constexpr size_t kLetters = (size_t{std::is_same_v<Arguments, char>} + ... + 0);
  detail::invoke(lapack_routine(routine, kType<T>), std::make_index_sequence<kLetters>(),
                 arguments...);
}

/// Memory for a routine's work, without values. OpenBLAS's kernels for complex numbers read some
/// numbers beyond the end of a vector, which therefore belong to it.
template <class T>
class Scratch {
 public:
  static constexpr size_t kBeyond = 64;
  explicit Scratch(size_t count) : data_(new T[count + kBeyond]) {}
  operator T*() const { return data_.get(); }  // NOLINT: as an array
  T* get() const { return data_.get(); }

 private:
  std::unique_ptr<T[]> data_;
};

/// The size of work that a routine answers to a query, as a number of T.
template <class T>
int answered_size(const T& answer) {
  // Numbers above 2^24 are rounded in f32.
  const double size = static_cast<double>(real_part(answer)) * (1 + 1e-6);
  return size >= 2147483647.0 ? 2147483647 : std::max(1, static_cast<int>(std::ceil(size)));
}

/// Runs `routine`, a function of (work, lwork), which is asked for the best lwork first.
template <class T, class Function>
void with_work(Function&& routine) {
  T answer{};
  routine(&answer, -1);
  const int size = answered_size(answer);
  const Scratch<T> work(static_cast<size_t>(size));
  routine(work.get(), size);
}

}  // namespace km::math
