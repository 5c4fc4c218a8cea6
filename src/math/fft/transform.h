// Transforms of arrays with several dimensions, strides and batches.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "math/fft/lines.h"
#include "math/fft/memory_pool.h"

namespace km::fft {

/// A dimension: its length, and the distance of neighbours in both arrays, in numbers.
struct Axis {
  uint64_t n;
  int64_t in, out;
};

enum class TransformKind : uint8_t { kComplex, kRealToComplex, kComplexToReal };

/// The request of a transform. The last axis is the one whose complex side is halved.
struct TransformShape {
  TransformKind kind = TransformKind::kComplex;
  bool is_double = false;  // the type of all computation
  Storage in_storage = Storage::kFloat, out_storage = Storage::kFloat;
  std::vector<Axis> axes, batch;

  bool is_real_in() const { return kind == TransformKind::kRealToComplex; }
  bool is_real_out() const { return kind == TransformKind::kComplexToReal; }
  uint64_t in_bytes() const { return bytes_of(in_storage) * (is_real_in() ? 1 : 2); }
  uint64_t out_bytes() const { return bytes_of(out_storage) * (is_real_out() ? 1 : 2); }
};

/// The bytes of an array relative to its first number.
struct Extent {
  uint64_t below = 0, above = 0;
};
/// False if they are more than an address space has.
bool find_extents(const TransformShape& shape, Extent* in, Extent* out);

/// A transform of two arrays: stages that run one after another, each in pieces that may run at the
/// same time. It holds what it needs besides the arrays.
class Execution {
 public:
  Execution() = default;
  virtual ~Execution() = default;
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;
  virtual int stages() const = 0;
  virtual uint64_t pieces(int stage) const = 0;
  virtual uint64_t estimated_ns(int stage) const = 0;
  /// Gets this thread's memory for pieces of the stage, so that run() allocates none.
  virtual void prepare_thread(int stage) const = 0;
  virtual void run(int stage, uint64_t piece) const = 0;
};

/// The arrays of one transform, and where its memory comes from.
struct Binding {
  char* in = nullptr;
  char* out = nullptr;
  bool is_inverse = false;
  char* work_area = nullptr;  // used if it has the size that the transform's memory_bytes() says
};

/// A plan: everything that depends on sizes alone.
class Transform {
 public:
  Transform() = default;
  virtual ~Transform() = default;
  Transform(const Transform&) = delete;
  Transform& operator=(const Transform&) = delete;
  /// Makes the tables, once; bind() does so if it has not been done.
  virtual void prepare() const = 0;
  /// Makes the tables unless the transform is long: then bind() makes them, with arrays of that
  /// length.
  void prepare_unless_long() const;
  virtual std::shared_ptr<const Execution> bind(const Binding& binding) const = 0;
  /// The memory that a transform of two arrays that do not overlap needs.
  virtual uint64_t memory_bytes() const = 0;
  const TransformShape& shape() const { return shape_; }

 protected:
  TransformShape shape_;
};

/// Makes a plan for this number of threads. The extents of the shape are valid.
std::shared_ptr<const Transform> make_transform(const TransformShape& shape, uint32_t threads);

/// Runs all stages on this thread.
void run_here(const Execution& execution);

}  // namespace km::fft
