#include "comm/operation/reduce.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/arch/processor.h"
#include "base/assert.h"
#include "base/half_float.h"
#include "base/memory/nontemporal_copy.h"
#include "comm/operation/narrow_float.h"

namespace km::comm {
namespace {

constexpr uint64_t kTileBytes = 4096;

/// How elements are stored (Stored) and reduced (Sum).
template <class T>
struct Plain {
  using Stored = T;
  using Sum = T;
  static T load(T value) { return value; }
  static T store(T value) { return value; }
};
struct Half {
  using Stored = uint16_t;
  using Sum = float;
  static float load(uint16_t bits) { return float_of_half(bits); }
  static uint16_t store(float value) { return half_of_float(value); }
};
struct Bfloat {
  using Stored = uint16_t;
  using Sum = float;
  static float load(uint16_t bits) { return float_of_bfloat(bits); }
  static uint16_t store(float value) { return bfloat_of_float(value); }
};
template <class Format>
struct Narrow {
  using Stored = uint8_t;
  using Sum = float;
  static float load(uint8_t code) { return Format::kTable[code]; }
  static uint8_t store(float value) { return Format::encode(value); }
};

/// Integers wrap around.
template <class T, bool kIsInteger = std::is_integral_v<T>>
struct Wrapping {
  using Type = T;
};
template <class T>
struct Wrapping<T, true> {
  using Type = std::make_unsigned_t<T>;
};

template <class T>
T add(T a, T b) {
  using U = typename Wrapping<T>::Type;
  return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
}
template <class T>
T multiply(T a, T b) {
  using U = typename Wrapping<T>::Type;
  return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
}
/// A number wins against NaN.
template <class T>
T larger(T a, T b) {
  return b > a || a != a ? b : a;
}
template <class T>
T smaller(T a, T b) {
  return b < a || a != a ? b : a;
}

template <class Format>
class Reducer {
 public:
  using Stored = typename Format::Stored;
  using Sum = typename Format::Sum;

  Reducer(Reduction reduction, std::span<const Source> sources,
          std::span<const Destination> destinations)
      : reduction_(reduction), sources_(sources), destinations_(destinations) {}

  void run(uint64_t first, uint64_t count) {
    for (uint64_t done = 0; done < count; done += kTile) {
      const uint64_t size = std::min(kTile, count - done);
      load(sources_[0], first + done, size);
      for (const Source& source : sources_.subspan(1)) combine(source, first + done, size);
      finish(first + done, size);
    }
    if (bypasses_caches()) arch::store_fence();
  }

 private:
  static constexpr uint64_t kTile = kTileBytes / sizeof(Sum);

  bool bypasses_caches() const {
    return std::any_of(destinations_.begin(), destinations_.end(),
                       [](const Destination& each) { return each.bypasses_caches; });
  }
  static const Stored* at(const Source& source, uint64_t first) {
    return static_cast<const Stored*>(source.data) + first;
  }
  static Sum scalar_of(const Source& source) {
    Stored value;
    std::memcpy(&value, source.scalar, sizeof value);
    return Format::load(value);
  }

  void load(const Source& source, uint64_t first, uint64_t size) {
    const Stored* const from = at(source, first);
    if (reduction_ != Reduction::kScaledSum) {
      for (uint64_t i = 0; i < size; ++i) tile_[i] = Format::load(from[i]);
      return;
    }
    const Sum scalar = scalar_of(source);
    for (uint64_t i = 0; i < size; ++i) tile_[i] = multiply(Format::load(from[i]), scalar);
  }

  template <class Combine>
  void combine_by(const Stored* from, uint64_t size, Combine combine) {
    for (uint64_t i = 0; i < size; ++i) tile_[i] = combine(tile_[i], Format::load(from[i]));
  }

  void combine(const Source& source, uint64_t first, uint64_t size) {
    const Stored* const from = at(source, first);
    switch (reduction_) {
      case Reduction::kSum:
      case Reduction::kAverage:
        return combine_by(from, size, [](Sum a, Sum b) { return add(a, b); });
      case Reduction::kProduct:
        return combine_by(from, size, [](Sum a, Sum b) { return multiply(a, b); });
      case Reduction::kMax:
        return combine_by(from, size, [](Sum a, Sum b) { return larger(a, b); });
      case Reduction::kMin:
        return combine_by(from, size, [](Sum a, Sum b) { return smaller(a, b); });
      case Reduction::kScaledSum: {
        const Sum scalar = scalar_of(source);
        return combine_by(from, size,
                          [scalar](Sum a, Sum b) { return add(a, multiply(b, scalar)); });
      }
    }
    KM_ASSERT(false, "a reduction is not in the list");
  }

  void divide(uint64_t size) {
    // The number of ranks may be more than a small type holds.
    if constexpr (std::is_integral_v<Sum>) {
      const auto ranks = static_cast<__int128>(sources_.size());
      for (uint64_t i = 0; i < size; ++i) tile_[i] = static_cast<Sum>(tile_[i] / ranks);
    } else {
      const auto ranks = static_cast<Sum>(sources_.size());
      for (uint64_t i = 0; i < size; ++i) tile_[i] /= ranks;
    }
  }

  void finish(uint64_t first, uint64_t size) {
    if (reduction_ == Reduction::kAverage) divide(size);
    const Stored* result = nullptr;
    if constexpr (std::is_same_v<Stored, Sum>) {
      result = tile_;
    } else {
      for (uint64_t i = 0; i < size; ++i) stored_[i] = Format::store(tile_[i]);
      result = stored_;
    }
    for (const Destination& each : destinations_) {
      Stored* const to = static_cast<Stored*>(each.data) + first;
      if (each.bypasses_caches) {
        copy_nontemporal(to, result, size * sizeof(Stored));
      } else {
        std::memcpy(to, result, size * sizeof(Stored));
      }
    }
  }

  const Reduction reduction_;
  const std::span<const Source> sources_;
  const std::span<const Destination> destinations_;
  alignas(64) Sum tile_[kTile];
  alignas(64) Stored stored_[std::is_same_v<Stored, Sum> ? 1 : kTile];
};

}  // namespace

void reduce(Type type, Reduction reduction, std::span<const Source> sources,
            std::span<const Destination> destinations, uint64_t first, uint64_t count) {
  KM_ASSERT(!sources.empty(), "a reduction has a source");
  const auto run = [&]<class Format>(Format) {
    Reducer<Format>(reduction, sources, destinations).run(first, count);
  };
  switch (type) {
    case Type::kInt8:
      return run(Plain<int8_t>());
    case Type::kUint8:
      return run(Plain<uint8_t>());
    case Type::kInt32:
      return run(Plain<int32_t>());
    case Type::kUint32:
      return run(Plain<uint32_t>());
    case Type::kInt64:
      return run(Plain<int64_t>());
    case Type::kUint64:
      return run(Plain<uint64_t>());
    case Type::kF16:
      return run(Half());
    case Type::kF32:
      return run(Plain<float>());
    case Type::kF64:
      return run(Plain<double>());
    case Type::kBf16:
      return run(Bfloat());
    case Type::kE4m3:
      return run(Narrow<E4m3>());
    case Type::kE5m2:
      return run(Narrow<E5m2>());
  }
  KM_ASSERT(false, "a type is not in the list");
}

}  // namespace km::comm
