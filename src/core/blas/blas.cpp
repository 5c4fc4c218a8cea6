#include "core/blas/blas.h"

#include <algorithm>
#include <vector>

#include "core/object/backend_call.h"

namespace km {
namespace {

struct RoutineNames {
  const char* of_type[4];  // f32, f64, c32, c64; "0": no such routine
};
constexpr RoutineNames kRoutines[] = {
#define KMB_BLAS(routine, s, d, c, z, cublas_s, cublas_d, cublas_c, cublas_z) {{#s, #d, #c, #z}},
#include "backend/blas.def"
#undef KMB_BLAS
};

/// A contiguous range of bytes.
struct Run {
  uint64_t begin, end;
};

/// The lines of a region, sorted by address.
std::vector<Run> runs_of(const BlasRegion& region) {
  std::vector<Run> runs;
  runs.reserve(region.batch_count * region.lines);
  for (uint64_t matrix = 0; matrix < region.batch_count; ++matrix) {
    for (uint64_t line = 0; line < region.lines; ++line) {
      const uint64_t begin =
          region.address + matrix * region.stride_bytes + line * region.pitch_bytes;
      runs.push_back({begin, begin + region.line_bytes});
    }
  }
  if (region.batch_count > 1) {
    std::sort(runs.begin(), runs.end(),
              [](const Run& a, const Run& b) { return a.begin < b.begin; });
  }
  return runs;
}

/// Reduces a batch that uses one matrix for all its items to that matrix.
BlasRegion without_repeats(const BlasRegion& region) {
  BlasRegion result = region;
  if (region.stride_bytes == 0) result.batch_count = std::min<uint64_t>(region.batch_count, 1);
  return result;
}

}  // namespace

const char* blas_routine_name(kmb_blas_routine routine, km_data_type type) {
  if (routine == KMB_BLAS_GEMM && type == KM_DATA_TYPE_F16) return "hgemm";
  if (routine == KMB_BLAS_GEMM && type == KM_DATA_TYPE_BF16) return "bgemm";
  if (type < KM_DATA_TYPE_F32 || type > KM_DATA_TYPE_C64) return nullptr;
  const char* name = kRoutines[routine].of_type[type - KM_DATA_TYPE_F32];
  return *name == '0' ? nullptr : name;
}

bool BlasRegion::extent(uint64_t* out_bytes) const {
  uint64_t bytes = 0, further = 0;
  if (is_empty()) {
    *out_bytes = 0;
    return true;
  }
  if (__builtin_mul_overflow(lines - 1, pitch_bytes, &bytes) ||
      __builtin_add_overflow(bytes, line_bytes, &bytes) ||
      __builtin_mul_overflow(batch_count - 1, stride_bytes, &further) ||
      __builtin_add_overflow(bytes, further, &bytes)) {
    return false;
  }
  *out_bytes = bytes;
  return true;
}

bool regions_overlap(const BlasRegion& one, const BlasRegion& other) {
  if (one.is_empty() || other.is_empty()) return false;
  uint64_t one_bytes = 0, other_bytes = 0;
  one.extent(&one_bytes);
  other.extent(&other_bytes);
  if (one.address >= other.address + other_bytes || other.address >= one.address + one_bytes) {
    return false;
  }
  // The extents overlap, but the lines of one region may lie between those of the other.
  const std::vector<Run> ours = runs_of(without_repeats(one));
  const std::vector<Run> theirs = runs_of(without_repeats(other));
  for (size_t i = 0, k = 0; i < ours.size() && k < theirs.size();) {
    if (ours[i].begin < theirs[k].end && theirs[k].begin < ours[i].end) return true;
    if (ours[i].end <= theirs[k].end) {
      ++i;
    } else {
      ++k;
    }
  }
  return false;
}

bool overlaps_itself(const BlasRegion& region) {
  BlasRegion one = region;
  one.batch_count = 1;
  uint64_t bytes = 0;
  if (region.is_empty() || region.batch_count == 1 || !one.extent(&bytes) ||
      region.stride_bytes >= bytes) {
    return false;
  }
  if (region.stride_bytes == 0) return true;
  const std::vector<Run> runs = runs_of(region);
  for (size_t i = 1; i < runs.size(); ++i) {
    if (runs[i].begin < runs[i - 1].end) return true;
  }
  return false;
}

Status check_operands(std::span<const BlasOperand> operands) {
  for (const BlasOperand& written : operands) {
    if (!written.is_written) continue;
    if (written.memory != nullptr) KM_TRY(written.memory->require_writable(written.name));
    if (overlaps_itself(written.region)) {
      return make_error(KM_ERROR_INVALID_ARGUMENT,
                        "the matrices of %s overlap each other: its stride is %llu bytes",
                        written.name, static_cast<unsigned long long>(written.region.stride_bytes));
    }
    for (const BlasOperand& other : operands) {
      if (&other == &written || other.is_scalar) continue;
      if (other.may_be_output && other.region.address == written.region.address) continue;
      if (!regions_overlap(written.region, other.region)) continue;
      return make_error(KM_ERROR_INVALID_ARGUMENT, "%s, which is written, overlaps %s",
                        written.name, other.name);
    }
  }
  return {};
}

MemoryUse BlasOperand::use() const {
  uint64_t size_bytes = 0;
  if (memory == nullptr || !region.extent(&size_bytes)) return {};
  return MemoryUse::of(*memory, region.address, size_bytes,
                       is_written ? AccessKind::kWrite : AccessKind::kRead);
}

Result<Ref<BlasEngine>> BlasEngine::create(Context& context) {
  if (context.backend().blas_submit == nullptr) {
    return make_error(KM_ERROR_NOT_SUPPORTED, "device %s has no BLAS", context.device().info().uri);
  }
  Ref<BlasEngine> engine = Ref<BlasEngine>::adopt(new BlasEngine(context));
  KM_TRY(call_backend(context.backend().blas_create, context.native(), &engine->native_));
  return engine;
}

BlasEngine::~BlasEngine() {
  if (native_ != nullptr) backend().blas_destroy(native_);
}

Result<Ref<Blas>> Blas::create(Stream& stream, km_blas_layout layout) {
  KM_ASSIGN(Ref<BlasEngine> engine, BlasEngine::create(stream.context()));
  return Ref<Blas>::adopt(new Blas(stream, layout, std::move(engine)));
}

}  // namespace km
