// Programs register these before main(): fat binaries with their kernels and variables, known by
// addresses of the program. Code is loaded when something of it is used first; the driver then
// keeps it for all contexts.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "dropin/cudart/frame/driver.h"

namespace km::cudart {

class Binary;

/// A kernel that a symbol stands for: a function of the program, or a handle.
class Kernel {
 public:
  Kernel(std::shared_ptr<Binary> binary, std::string name)
      : binary_(std::move(binary)), name_(std::move(name)) {}
  explicit Kernel(CUkernel handle) : handle_(handle) {}

  const Binary* binary() const { return binary_.get(); }
  /// Loads the code if it is not loaded. cudaErrorInvalidDeviceFunction: it has no such kernel.
  cudaError_t handle(CUkernel* out);
  /// True when handle() has been asked for with success.
  bool is_loaded() const { return handle_.load(std::memory_order_acquire) != nullptr; }

 private:
  const std::shared_ptr<Binary> binary_;  // null: the program loaded it itself
  const std::string name_;
  std::atomic<CUkernel> handle_{nullptr};
};

/// A variable of the device that an address of the program stands for.
struct Variable {
  std::shared_ptr<Binary> binary;
  std::string name;
  void** host_pointer = nullptr;  // of managed ones: where the program looks for the address

  bool is_managed() const { return host_pointer != nullptr; }
  /// Its address in the current context, and its size. cudaErrorInvalidSymbol.
  cudaError_t locate(CUdeviceptr* out, size_t* out_bytes) const;
};

/// One fat binary.
class Binary {
 public:
  explicit Binary(const void* wrapper) : wrapper_(wrapper) {}
  ~Binary();
  /// Loads the code if it is not loaded.
  cudaError_t library(CUlibrary* out);

 private:
  const void* const wrapper_;
  std::mutex mutex_;  // guards what follows
  CUlibrary library_ = nullptr;
};

class Registry {
 public:
  static Registry& instance();

  /// The handle of a new binary.
  void** add_binary(const void* wrapper);
  /// Null for what is no handle.
  std::shared_ptr<Binary> binary(void** handle);
  void remove_binary(void** handle);
  void add_kernel(std::shared_ptr<Binary> binary, const void* symbol, const char* name);
  /// A kernel that the program loaded itself; its handle is the symbol.
  void add_kernel(CUkernel handle);
  void remove_kernel(CUkernel handle);
  void add_variable(const void* symbol, Variable variable);
  /// Puts the addresses of a binary's managed variables where the program looks for them.
  cudaError_t place_managed(const Binary& binary);

  /// The kernel of a symbol, alive until the thread asks for another one. Null if there is none.
  Kernel* kernel(const void* symbol);
  /// Null if there is none.
  std::shared_ptr<const Variable> variable(const void* symbol);
  /// The function of the program that stands for a kernel, which the driver gives as a function of
  /// the current context, or as a kernel too; null if there is none.
  const void* symbol_of(CUfunction function, CUkernel handle);

 private:
  std::shared_mutex mutex_;  // guards what follows
  std::unordered_map<const void*, std::shared_ptr<Binary>> binaries_;
  std::unordered_map<const void*, std::shared_ptr<Kernel>> kernels_;
  std::unordered_map<const void*, std::shared_ptr<const Variable>> variables_;
  std::atomic<uint64_t> generation_{1};  // grows when a kernel goes
};

/// The handle of the kernel of a symbol. cudaErrorInvalidDeviceFunction: there is none.
cudaError_t find_kernel(const void* symbol, CUkernel* out);
/// Address and size of a symbol's variable in the current context. cudaErrorInvalidSymbol.
cudaError_t find_variable(const void* symbol, CUdeviceptr* out, size_t* out_bytes);

}  // namespace km::cudart
