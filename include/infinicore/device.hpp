// Devices, named by kind and number.
#ifndef INFINICORE_DEVICE_HPP
#define INFINICORE_DEVICE_HPP

#include <kernelmill/kernelmill.hpp>

#include <cstddef>
#include <string>

namespace infinicore {

/// A failed call with its codes: status() is a KM_ERROR_..., for example
/// KM_ERROR_OUT_OF_DEVICE_MEMORY; native_code() is the driver's.
using Error = km::error;

/// The name of a device; creating one opens nothing.
class Device {
 public:
  using Index = std::size_t;
  enum class Type { CPU, CUDA };

  /// Names device number `index`, from 0, of a kind.
  explicit Device(Type type = Type::CPU, Index index = 0) noexcept : type_(type), index_(index) {}

  /// The device's kind.
  Type getType() const noexcept { return type_; }
  /// The device's number among those of its kind.
  Index getIndex() const noexcept { return index_; }
  /// The device's URI in Kernelmill: "cpu:0", "cuda:1".
  std::string toString() const { return toString(type_) + ":" + std::to_string(index_); }
  /// The name of a kind: "cpu", "cuda".
  static std::string toString(Type type) { return type == Type::CPU ? "cpu" : "cuda"; }

  friend bool operator==(const Device& a, const Device& b) noexcept {
    return a.type_ == b.type_ && a.index_ == b.index_;
  }
  friend bool operator!=(const Device& a, const Device& b) noexcept { return !(a == b); }

 private:
  Type type_;
  Index index_;
};

}  // namespace infinicore

#endif
