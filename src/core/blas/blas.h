// BLAS objects, and what their calls need of their arguments.
#pragma once

#include <array>
#include <cstdint>

#include "core/memory/memory.h"
#include "core/memory/submission.h"
#include "core/stream/stream.h"

namespace km {

/// The backend's part, which captured calls keep: it knows no stream, because the stream may be the
/// one that keeps the capture.
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

/// "saxpy"; null: there is no such routine for the type.
const char* blas_routine_name(kmb_blas_routine routine, km_data_type type);
/// Bytes of one element; 0 for what is no type.
uint32_t data_type_size(km_data_type type);

/// The place of a vector's elements, or of those of the matrices of a batch: lines at a distance.
struct BlasRegion {
  uint64_t address = 0;
  uint64_t lines = 0, line_bytes = 0, pitch_bytes = 0;
  uint64_t batch_count = 1, stride_bytes = 0;

  bool is_empty() const { return lines == 0 || line_bytes == 0 || batch_count == 0; }
  /// From the first byte to the last one; false: more than 2^64.
  bool extent(uint64_t* out_bytes) const;
};
/// True if two regions, which lie within the address space, share a byte.
bool regions_overlap(const BlasRegion& one, const BlasRegion& other);
/// True if matrices of one batch share a byte.
bool overlaps_itself(const BlasRegion& region);

/// One array of a call, checked.
struct BlasOperand {
  const char* name = nullptr;
  Memory* memory = nullptr;  // null: empty
  BlasRegion region;
  bool is_written = false;
  bool is_scalar = false;  // it may lie in what is written, for it is read before

  MemoryUse use() const;
};

constexpr uint32_t kOperands = 5;  // of one call, at most: arrays and scalars

struct BlasWork {
  kmb_blas_call call{};
  std::array<BlasOperand, kOperands> operands;
  uint32_t operand_count = 0;
};

}  // namespace km
