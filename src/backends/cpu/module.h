// A loaded module: the analysed program, its variables in device memory, and its functions.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backend/interface.h"
#include "backends/cpu/code_unit.h"
#include "backends/cpu/heap.h"
#include "base/hash.h"
#include "simt/engine.h"

namespace km::cpu {

class Context;
class Function;
class Module;

/// One variant of a kernel in memory.
class KernelCode final : public CodeUnit {
 public:
  KernelCode(const Function* function, const simt::Variant& variant,
             std::unique_ptr<simt::Code> code);
  const simt::Variant& variant() const { return variant_; }
  const simt::Code& code() const { return *code_; }
  std::string kernel_name() const override;
  std::string position_of(uint64_t pc, uint32_t helper_line) const override;

 private:
  const Function* const function_;
  const simt::Variant variant_;
  const std::unique_ptr<simt::Code> code_;
};

class Function {
 public:
  Function(const Module* module, uint32_t index);
  const Module& module() const { return *module_; }
  const simt::KernelInfo& kernel() const;
  const kmb_function_info& info() const { return info_; }

  Result<int64_t> attribute(km_function_attribute attribute) const;
  Status set_attribute(km_function_attribute attribute, int64_t value);
  uint64_t max_dynamic_shared_bytes() const {
    return max_dynamic_shared_bytes_.load(std::memory_order_relaxed);
  }

  /// Code that may run this launch; compiles it at the first use.
  Result<const KernelCode*> code_for(const simt::LaunchRecord& record) const;
  /// Makes the code for blocks of this size.
  Status prepare(const uint32_t block[3]) const;

 private:
  Result<const KernelCode*> find_or_compile(const simt::Variant& variant) const;
  simt::Variant variant_for(const uint32_t block[3], bool assume_no_wrap) const;

  const Module* const module_;
  const uint32_t index_;
  std::vector<kmb_param> params_;
  kmb_function_info info_{};
  std::atomic<uint64_t> max_dynamic_shared_bytes_;

  mutable std::atomic<const KernelCode*> latest_{nullptr};  // what the last launch ran
  mutable std::mutex mutex_;                                // codes_; held while compiling
  mutable std::vector<std::unique_ptr<KernelCode>> codes_;
};

class Module {
 public:
  static Result<std::unique_ptr<Module>> load(Context* context, std::string_view ptx,
                                              std::string_view name);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  const std::string& name() const { return name_; }
  /// Of the text that it was loaded from.
  const Hash128& ptx_hash() const { return ptx_hash_; }
  const simt::Program& program() const { return *program_; }
  const uint64_t* variable_addresses() const { return addresses_.data(); }
  std::vector<std::unique_ptr<Function>>& functions() { return functions_; }
  Result<kmb_global_info> global(std::string_view name) const;

 private:
  Module(Context* context, std::string_view name) : context_(context), name_(name) {}
  Status place_variables();
  uint64_t size_of_variable(uint32_t index) const;
  void initialise_variable(uint32_t index);

  Context* const context_;
  const std::string name_;
  Hash128 ptx_hash_;
  std::shared_ptr<const simt::Program> program_;
  Heap::Block block_;                // all variables
  std::vector<uint64_t> addresses_;  // by index of the variable
  std::vector<std::unique_ptr<Function>> functions_;
};

}  // namespace km::cpu
