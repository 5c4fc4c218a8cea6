// Tensor maps, which describe tensors to cp.async.bulk.tensor.
#include <cstring>

#include "base/cuda/tensor_map.h"
#include "cuda/tensor_types.h"
#include "dropin/cuda/frame/host_place.h"

namespace km::cu {

using namespace km::dropin;  // NOLINT

static_assert(sizeof(CUtensorMap) == sizeof(km::TensorMap));

namespace {

constexpr uint32_t kMostStep = 8, kMostBox = 256;

/// A type's number in tensor maps and tensormap.replace. Returns false if compute capability 9.0
/// lacks the type.
bool read_element(CUtensorMapDataType type, TensorElement* out) {
  constexpr TensorElement kElements[] = {
      TensorElement::u8,      TensorElement::u16,  TensorElement::u32,     TensorElement::s32,
      TensorElement::u64,     TensorElement::s64,  TensorElement::f16,     TensorElement::f32,
      TensorElement::f64,     TensorElement::bf16, TensorElement::f32_ftz, TensorElement::tf32,
      TensorElement::tf32_ftz};
  static_assert(CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ == 12 && std::size(kElements) == 13);
  if (type < 0 || type > CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ) return false;
  *out = kElements[type];
  return true;
}

/// Parameters that tiled and im2col maps share.
struct Tensor {
  CUtensorMapDataType type;
  uint32_t rank;
  void* address;
  const cuuint64_t *sizes, *strides;
  const cuuint32_t* steps;
  CUtensorMapInterleave interleave;
  CUtensorMapSwizzle swizzle;
  CUtensorMapL2promotion promotion;
  CUtensorMapFloatOOBfill fill;
};

CUresult read_modes(const Tensor& from, TensorMap* map) {
  TensorElement element{};
  if (!read_element(from.type, &element)) {
    const bool exists = from.type >= 0 && from.type <= CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B;
    return fail(exists ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE,
                "data type %d does not exist in compute capability 9.0", from.type);
  }
  map->element = static_cast<uint8_t>(element);
  if (from.interleave < 0 || from.interleave > CU_TENSOR_MAP_INTERLEAVE_32B) {
    return fail(CUDA_ERROR_INVALID_VALUE, "there is no interleave %d", from.interleave);
  }
  if (from.swizzle < 0 || from.swizzle > CU_TENSOR_MAP_SWIZZLE_128B) {
    const bool exists = from.swizzle > 0 && from.swizzle <= CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B;
    return fail(exists ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE,
                "swizzle %d does not exist in compute capability 9.0", from.swizzle);
  }
  if (from.promotion < 0 || from.promotion > CU_TENSOR_MAP_L2_PROMOTION_L2_256B) {
    return fail(CUDA_ERROR_INVALID_VALUE, "there is no promotion %d to the L2 cache",
                from.promotion);
  }
  if (from.fill < 0 || from.fill > CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA) {
    return fail(CUDA_ERROR_INVALID_VALUE, "there is no fill mode %d", from.fill);
  }
  map->interleave = static_cast<uint8_t>(from.interleave);
  map->swizzle = static_cast<uint8_t>(from.swizzle);
  map->fill = static_cast<uint8_t>(from.fill);
  return CUDA_SUCCESS;
}

CUresult read_tensor(const Tensor& from, TensorMap* map) {
  if (from.rank == 0 || from.rank > kMostTensorDimensions) {
    return fail(CUDA_ERROR_INVALID_VALUE, "a tensor has 1 to 5 dimensions, not %u", from.rank);
  }
  cuuint64_t sizes[kMostTensorDimensions], strides[kMostTensorDimensions];
  cuuint32_t steps[kMostTensorDimensions];
  CU_TRY(read_places("globalDim", from.sizes, from.rank, sizes));
  CU_TRY(read_places("elementStrides", from.steps, from.rank, steps));
  if (from.rank > 1) CU_TRY(read_places("globalStrides", from.strides, from.rank - 1, strides));
  CU_TRY(read_modes(from, map));
  map->mark = TensorMap::kMark;
  map->address = reinterpret_cast<uint64_t>(from.address);
  map->last_dimension = static_cast<uint8_t>(from.rank - 1);
  for (uint32_t i = 0; i < from.rank; ++i) {
    map->sizes[i] = sizes[i];
    if (i > 0) map->strides_bytes[i - 1] = strides[i - 1];
    if (steps[i] == 0 || steps[i] > kMostStep) {
      return fail(CUDA_ERROR_INVALID_VALUE, "element stride %u of dimension %u is not 1 to 8",
                  steps[i], i);
    }
    map->steps[i] = static_cast<uint8_t>(steps[i]);
  }
  return CUDA_SUCCESS;
}

/// Stores the map in `out` if it is valid.
CUresult give(const TensorMap& map, CUtensorMap* out) {
  const TensorMapCheck found = check(map);
  if (found.problem != TensorMapProblem::none) {
    return fail(CUDA_ERROR_INVALID_VALUE, "%s; it is %llu (0x%llx)", text_of(found.problem),
                static_cast<unsigned long long>(found.value),
                static_cast<unsigned long long>(found.value));
  }
  CUtensorMap bits;
  std::memcpy(static_cast<void*>(&bits), &map, sizeof bits);
  return write_place("tensorMap", out, bits);
}

CUresult check_place(const CUtensorMap* map) {
  CU_REQUIRE(map);
  if (reinterpret_cast<uintptr_t>(map) % alignof(TensorMap) == 0) return CUDA_SUCCESS;
  return fail(CUDA_ERROR_INVALID_VALUE, "the tensor map lies at %p, which is not a multiple of 64",
              static_cast<const void*>(map));
}

CUresult read_corners(uint32_t rank, const int* first, const int* last, TensorMap* map) {
  if (rank < 3) return CUDA_SUCCESS;  // the check of the whole map names the reason
  int lower[kMostTensorDimensions], upper[kMostTensorDimensions];
  CU_TRY(read_places("pixelBoxLowerCorner", first, rank - 2, lower));
  CU_TRY(read_places("pixelBoxUpperCorner", last, rank - 2, upper));
  for (uint32_t i = 0; i + 2 < rank; ++i) {
    if (lower[i] != static_cast<int16_t>(lower[i]) || upper[i] != static_cast<int16_t>(upper[i])) {
      return fail(CUDA_ERROR_INVALID_VALUE, "the corners %d and %d do not fit into 16 bits",
                  lower[i], upper[i]);
    }
    map->lower_corner[i] = static_cast<int16_t>(lower[i]);
    map->upper_corner[i] = static_cast<int16_t>(upper[i]);
  }
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuTensorMapEncodeTiled(CUtensorMap* out, CUtensorMapDataType type, cuuint32_t rank,
                                void* address, const cuuint64_t* sizes, const cuuint64_t* strides,
                                const cuuint32_t* box_sizes, const cuuint32_t* steps,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  return guard_anywhere(__func__, [&]() -> CUresult {
    CU_TRY(check_place(out));
    CU_REQUIRE(box_sizes);
    TensorMap map{};
    CU_TRY(read_tensor(
        {type, rank, address, sizes, strides, steps, interleave, swizzle, promotion, fill}, &map));
    cuuint32_t box[kMostTensorDimensions];
    CU_TRY(read_places("boxDim", box_sizes, rank, box));
    for (uint32_t i = 0; i < rank; ++i) {
      if (box[i] == 0 || box[i] > kMostBox) {
        return fail(CUDA_ERROR_INVALID_VALUE, "box size %u of dimension %u is not 1 to 256", box[i],
                    i);
      }
      map.box[i] = static_cast<uint16_t>(box[i]);
    }
    return give(map, out);
  });
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap* out, CUtensorMapDataType type, cuuint32_t rank,
                                 void* address, const cuuint64_t* sizes, const cuuint64_t* strides,
                                 const int* lower, const int* upper, cuuint32_t channels,
                                 cuuint32_t pixels, const cuuint32_t* steps,
                                 CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                 CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  return guard_anywhere(__func__, [&]() -> CUresult {
    CU_TRY(check_place(out));
    TensorMap map{};
    CU_TRY(read_tensor(
        {type, rank, address, sizes, strides, steps, interleave, swizzle, promotion, fill}, &map));
    map.mode = static_cast<uint8_t>(TensorMode::im2col);
    CU_TRY(read_corners(rank, lower, upper, &map));
    if (channels > UINT16_MAX || pixels > UINT16_MAX) {
      return fail(CUDA_ERROR_INVALID_VALUE, "%u channels of %u pixels are more than 256 of 1024",
                  channels, pixels);
    }
    map.channels = static_cast<uint16_t>(channels);
    map.pixels = static_cast<uint16_t>(pixels);
    return give(map, out);
  });
}

CUresult cuTensorMapReplaceAddress(CUtensorMap* map, void* address) {
  return guard_anywhere(__func__, [&]() -> CUresult {
    CU_TRY(check_place(map));
    TensorMap changed;
    CUtensorMap bits;
    CU_TRY(read_place("tensorMap", map, &bits));
    std::memcpy(static_cast<void*>(&changed), &bits, sizeof changed);
    changed.address = reinterpret_cast<uint64_t>(address);
    return give(changed, map);
  });
}

}  // extern "C"

}  // namespace km::cu
