// The registry of code that programs register before main(): fat binaries with their kernels and
// variables, identified by addresses in the program. Code is loaded when it is first used; the
// driver then keeps it for all contexts.
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

/// A kernel by its symbol: a function of the program, or a handle.
class Kernel {
 public:
  Kernel(std::shared_ptr<Binary> binary, std::string name)
      : binary_(std::move(binary)), name_(std::move(name)) {}
  explicit Kernel(CUkernel handle) : handle_(handle) {}

  const Binary* binary() const { return binary_.get(); }
  /// Loads the code if needed. cudaErrorInvalidDeviceFunction if the code lacks the kernel.
  cudaError_t handle(CUkernel* out);
  /// True once handle() has succeeded.
  bool is_loaded() const { return handle_.load(std::memory_order_acquire) != nullptr; }

 private:
  const std::shared_ptr<Binary> binary_;  // null: the program loaded the code itself
  const std::string name_;
  std::atomic<CUkernel> handle_{nullptr};
};

/// A device variable by its symbol, an address in the program.
struct Variable {
  std::shared_ptr<Binary> binary;
  std::string name;
  void** host_pointer = nullptr;  // managed variables: the program reads the address here

  bool is_managed() const { return host_pointer != nullptr; }
  /// Its address in the current context and its size. cudaErrorInvalidSymbol if the code lacks it.
  cudaError_t locate(CUdeviceptr* out, size_t* out_bytes) const;
};

/// A registered fat binary.
class Binary {
 public:
  explicit Binary(const void* wrapper) : wrapper_(wrapper) {}
  ~Binary();
  /// Loads the code if needed.
  cudaError_t library(CUlibrary* out);

 private:
  const void* const wrapper_;
  std::mutex mutex_;  // guards the members below
  CUlibrary library_ = nullptr;
};

class Registry {
 public:
  static Registry& instance();

  /// Adds a binary and returns its handle.
  void** add_binary(const void* wrapper);
  /// Null if the handle is invalid.
  std::shared_ptr<Binary> binary(void** handle);
  void remove_binary(void** handle);
  void add_kernel(std::shared_ptr<Binary> binary, const void* symbol, const char* name);
  /// Adds a kernel that the program loaded itself; its handle is the symbol.
  void add_kernel(CUkernel handle);
  void remove_kernel(CUkernel handle);
  void add_variable(const void* symbol, Variable variable);
  /// Stores the addresses of a binary's managed variables in the program's pointers.
  cudaError_t place_managed(const Binary& binary);

  /// A symbol's kernel, kept alive until the thread looks up another one. Null if there is none.
  Kernel* kernel(const void* symbol);
  /// Null if the symbol is not a variable.
  std::shared_ptr<const Variable> variable(const void* symbol);
  /// The program's function for a kernel that the driver returned as a function of the current
  /// context and possibly as a kernel; null if there is none.
  const void* symbol_of(CUfunction function, CUkernel handle);

 private:
  std::shared_mutex mutex_;  // guards the members below
  std::unordered_map<const void*, std::shared_ptr<Binary>> binaries_;
  std::unordered_map<const void*, std::shared_ptr<Kernel>> kernels_;
  std::unordered_map<const void*, std::shared_ptr<const Variable>> variables_;
  std::atomic<uint64_t> generation_{1};  // incremented when a kernel is removed
};

/// A symbol's kernel. cudaErrorInvalidDeviceFunction if there is none.
cudaError_t find_kernel(const void* symbol, CUkernel* out);
/// The address and size of a symbol's variable in the current context. cudaErrorInvalidSymbol if
/// there is none.
cudaError_t find_variable(const void* symbol, CUdeviceptr* out, size_t* out_bytes);

}  // namespace km::cudart
