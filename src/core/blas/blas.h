// BLAS objects and the checks of their calls' arguments.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "core/memory/memory.h"
#include "core/memory/submission.h"
#include "core/stream/stream.h"

namespace km {

/// The backend's handle, which captured calls keep. It does not refer to the stream, because the
/// stream may be the one that keeps the capture: the references would form a cycle.
class BlasEngine final : public ContextChild {
 public:
  static Result<Ref<BlasEngine>> create(Context& context);
  kmb_blas* native() const { return native_; }

 private:
  explicit BlasEngine(Context& context) : ContextChild(context) {}
  ~BlasEngine() override;
  kmb_blas* native_ = nullptr;
};

class Blas final : public ContextChild {
 public:
  static Result<Ref<Blas>> create(Stream& stream, km_blas_layout layout);

  Stream& stream() const { return *stream_; }
  km_blas_layout layout() const { return layout_; }
  BlasEngine& engine() const { return *engine_; }

 private:
  Blas(Stream& stream, km_blas_layout layout, Ref<BlasEngine> engine)
      : ContextChild(stream.context()),
        stream_(Ref<Stream>::share(stream)),
        engine_(std::move(engine)),
        layout_(layout) {}

  const Ref<Stream> stream_;
  const Ref<BlasEngine> engine_;
  const km_blas_layout layout_;
};

/// The routine's name in messages, "saxpy"; null if the type has no such routine.
const char* blas_routine_name(kmb_blas_routine routine, km_data_type type);

/// The addresses of a vector's elements or of a batch of matrices: equal lines at a fixed distance.
struct BlasRegion {
  uint64_t address = 0;
  uint64_t lines = 0, line_bytes = 0, pitch_bytes = 0;
  uint64_t batch_count = 1, stride_bytes = 0;

  bool is_empty() const { return lines == 0 || line_bytes == 0 || batch_count == 0; }
  /// The distance from the first byte to the end of the last; false if it exceeds 64 bits.
  bool extent(uint64_t* out_bytes) const;
};
/// True if two regions share a byte. Both must lie within the address space.
bool regions_overlap(const BlasRegion& one, const BlasRegion& other);
/// True if two matrices of a batch share a byte.
bool overlaps_itself(const BlasRegion& region);

/// A checked array of a call.
struct BlasOperand {
  const char* name = nullptr;
  Memory* memory = nullptr;  // null: empty
  BlasRegion region;
  bool is_written = false;
  bool is_scalar = false;  // may overlap the output, because it is read first
  bool may_be_output =
      false;  // an input that may begin where an output does: an operation in place

  MemoryUse use() const;
};

/// Checks that arrays may be written, and share no bytes with others.
Status check_operands(std::span<const BlasOperand> operands);

constexpr uint32_t kOperands = 5;      // the most arrays and scalars that a call of BLAS has
constexpr uint32_t kMostOperands = 8;  // and those of other libraries

struct BlasWork {
  kmb_blas_call call{};
  std::array<BlasOperand, kOperands> operands;
  uint32_t operand_count = 0;
};

}  // namespace km
