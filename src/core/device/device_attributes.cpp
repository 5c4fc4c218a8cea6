#include "core/device/device_attributes.h"

#include <algorithm>
#include <cstdio>
#include <iterator>

#include "base/assert.h"

namespace km {
namespace {

struct Row {
  km_device_attribute attribute;
  int32_t cuda;  // 0: CUDA has no such attribute
  const char* name;
  const char* unit;
};

namespace cuda {
enum Number : int32_t {
#define KM_DEVICE_ATTRIBUTE_ROW(number, name, unit) name = number,
#define KM_OWN_ATTRIBUTE(name, cuda_name)
#include "backend/device_attributes.def"
#undef KM_OWN_ATTRIBUTE
#undef KM_DEVICE_ATTRIBUTE_ROW
};
}  // namespace cuda

constexpr Row kCudaRows[] = {
#define KM_DEVICE_ATTRIBUTE_ROW(number, name, unit) \
  {KM_DEVICE_ATTRIBUTE_CUDA + (number), number, #name, unit},
#define KM_OWN_ATTRIBUTE(name, cuda_name)
#include "backend/device_attributes.def"
#undef KM_OWN_ATTRIBUTE
#undef KM_DEVICE_ATTRIBUTE_ROW
};

// Attributes whose unit equals CUDA's take it from CUDA's row.
constexpr Row kOwnRows[] = {
#define KM_DEVICE_ATTRIBUTE_ROW(number, name, unit)
#define KM_OWN_ATTRIBUTE(name, cuda_name) \
  {KM_DEVICE_ATTRIBUTE_##name, cuda::cuda_name, #name, nullptr},
#include "backend/device_attributes.def"
#undef KM_OWN_ATTRIBUTE
#undef KM_DEVICE_ATTRIBUTE_ROW
    {KM_DEVICE_ATTRIBUTE_UNIFIED_MEMORY, 0, "UNIFIED_MEMORY", "flag"},
    {KM_DEVICE_ATTRIBUTE_STREAM_PRIORITY_LEAST, 0, "STREAM_PRIORITY_LEAST", "number"},
    {KM_DEVICE_ATTRIBUTE_STREAM_PRIORITY_GREATEST, 0, "STREAM_PRIORITY_GREATEST", "number"},
};
static_assert(std::size(kOwnRows) == KM_DEVICE_ATTRIBUTE_L2_CACHE_BYTES, "one row for each");

template <class Rows>
const Row* find(const Rows& rows, int32_t Row::* member, int32_t value) {
  const auto* found = std::find_if(std::begin(rows), std::end(rows),
                                   [&](const Row& row) { return row.*member == value; });
  return found != std::end(rows) ? found : nullptr;
}

}  // namespace

uint32_t device_attribute_count() { return std::size(kOwnRows) + std::size(kCudaRows); }

km_device_attribute_info device_attribute_info(uint32_t index) {
  KM_ASSERT(index < device_attribute_count(), "the caller has compared the index with the count");
  const uint32_t own = std::size(kOwnRows);
  const Row& row = index < own ? kOwnRows[index] : kCudaRows[index - own];
  const char* unit = row.unit != nullptr ? row.unit : find(kCudaRows, &Row::cuda, row.cuda)->unit;
  km_device_attribute_info info{};
  info.attribute = row.attribute;
  info.cuda_attribute = row.cuda;
  std::snprintf(info.name, sizeof info.name, "%s", row.name);
  std::snprintf(info.unit, sizeof info.unit, "%s", unit);
  return info;
}

bool is_device_attribute(km_device_attribute attribute) {
  return find(kOwnRows, &Row::attribute, attribute) != nullptr ||
         find(kCudaRows, &Row::attribute, attribute) != nullptr;
}

km_device_attribute backend_attribute(km_device_attribute attribute) {
  const Row* own = find(kOwnRows, &Row::attribute, attribute);
  return own != nullptr && own->cuda != 0 ? KM_DEVICE_ATTRIBUTE_CUDA + own->cuda : attribute;
}

}  // namespace km
