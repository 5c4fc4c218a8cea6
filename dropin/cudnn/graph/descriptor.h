// Descriptors of the graph API: values of attributes, which no longer change once they are final.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "dropin/cudnn/frame/library.h"

namespace km::cudnn {

class Descriptor;
using DescriptorPointer = std::shared_ptr<Descriptor>;

/// An element of CUDNN_TYPE_FRACTION.
struct Fraction {
  int64_t numerator, denominator;
};

/// The elements of an attribute.
struct AttributeValue {
  cudnnBackendAttributeType_t type{};
  int64_t count = 0;
  std::vector<std::byte> bytes;
  std::vector<DescriptorPointer> descriptors;
};

/// The bytes of an element; 0 if there is no such type.
size_t element_bytes(cudnnBackendAttributeType_t type) noexcept;
/// True if descriptors of that type have the attribute.
bool has_attribute(cudnnBackendDescriptorType_t type, cudnnBackendAttributeName_t name) noexcept;

struct Plan;

/// One cudnnBackendDescriptor_t.
class Descriptor {
 public:
  explicit Descriptor(cudnnBackendDescriptorType_t kind) : type(kind) {}

  const AttributeValue* find(cudnnBackendAttributeName_t name) const {
    const auto found = attributes.find(name);
    return found == attributes.end() ? nullptr : &found->second;
  }
  bool has(cudnnBackendAttributeName_t name) const { return find(name) != nullptr; }
  /// The first element as a number, whatever its type is.
  int64_t integer(cudnnBackendAttributeName_t name, int64_t otherwise = 0) const;
  double number(cudnnBackendAttributeName_t name, double otherwise = 0) const;
  std::vector<int64_t> integers(cudnnBackendAttributeName_t name) const;
  std::vector<double> numbers(cudnnBackendAttributeName_t name) const;
  /// The descriptor that the attribute holds; null if there is none.
  const Descriptor* descriptor(cudnnBackendAttributeName_t name) const;

  const cudnnBackendDescriptorType_t type;
  std::mutex mutex;  // guards the members below until is_final is true
  bool is_final = false;
  std::map<cudnnBackendAttributeName_t, AttributeValue> attributes;
  std::shared_ptr<const Plan> plan;  // of operation graphs, once they are final
};

DescriptorPointer find_descriptor(cudnnBackendDescriptor_t handle);
/// Says that a descriptor is not live.
cudnnStatus_t not_live();

}  // namespace km::cudnn
