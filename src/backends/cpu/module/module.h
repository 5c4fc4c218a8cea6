// Loaded modules: the analysed program, its variables in device memory and its functions.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "backend/interface.h"
#include "backends/cpu/execution/code_unit.h"
#include "backends/cpu/memory/heap.h"
#include "backends/cpu/module/object_cache.h"
#include "base/hash.h"
#include "base/occupancy.h"
#include "simt/engine.h"

namespace km::cpu {

class Context;
class Function;
class Module;

/// One compiled variant of a kernel.
class KernelCode final : public CodeUnit {
 public:
  KernelCode(const Function* function, const simt::Variant& variant,
             std::unique_ptr<simt::Code> code);
  const simt::Variant& variant() const { return variant_; }
  /// True if the code was compiled to wait for other blocks of a cluster.
  bool suspends() const;
  const simt::Code& code() const { return *code_; }
  std::string kernel_name() const override;
  std::string position_of(uint64_t pc, uint32_t helper_line) const override;
  std::string parameters_in(const uint8_t* params, uint64_t begin, uint64_t bytes) const override;

 private:
  const Function* const function_;
  const simt::Variant variant_;
  const std::unique_ptr<simt::Code> code_;
};

class Function {
 public:
  Function(const Module* module, uint32_t index);
  const Module& module() const { return *module_; }
  const simt::KernelInfo& kernel() const { return kernel_; }
  const kmb_function_info& info() const { return info_; }
  void set_launches_grids() { info_.launches_grids = 1; }

  Result<int64_t> attribute(km_function_attribute attribute);
  Status set_attribute(km_function_attribute attribute, int64_t value);
  uint64_t max_dynamic_shared_bytes() const {
    return max_dynamic_shared_bytes_.load(std::memory_order_relaxed);
  }
  /// True if a block may have this much dynamic shared memory.
  bool may_have_shared(uint64_t dynamic_bytes) const {
    const KernelNeeds needs = {.static_shared_bytes = kernel_.shared_static_bytes,
                               .max_dynamic_shared_bytes = max_dynamic_shared_bytes()};
    return km::may_have_shared(block_shared_bytes_, needs, dynamic_bytes);
  }

  /// The most blocks that a cluster may have.
  uint32_t max_cluster_blocks() const;

  /// Returns code for this launch, and compiles it at the first use. `suspends` requests code that
  /// can wait for other blocks at a cluster's barrier.
  Result<const KernelCode*> code_for(const simt::LaunchRecord& record, bool suspends) const;
  /// Compiles the code for blocks of this size.
  Status prepare(const uint32_t block[3]) const;
  simt::Variant variant_for(const uint32_t block[3], bool assume_no_wrap,
                            bool suspends = false) const;

 private:
  int64_t registers() const;
  uint64_t thread_stack_bytes() const;
  const ptx::Function& source() const;
  /// The storage of an attribute without effect on a CPU; null for other attributes.
  std::atomic<int32_t>* hint(km_function_attribute attribute);
  static Status set_hint(std::atomic<int32_t>* kept, km_function_attribute attribute,
                         int64_t value);
  Result<const KernelCode*> find_or_compile(const simt::Variant& variant) const;
  simt::Variant variant_to_make(const simt::Variant& wanted) const;

  const Module* const module_;
  const uint32_t index_;
  const simt::KernelInfo& kernel_;
  // Most shared memory of a block that opts in to more than the default.
  const uint64_t block_shared_bytes_;
  std::vector<kmb_param> params_;
  kmb_function_info info_{};
  std::atomic<uint64_t> max_dynamic_shared_bytes_;
  std::atomic<int32_t> carveout_percent_{-1}, non_portable_cluster_{0}, cluster_policy_{0};

  mutable std::atomic<const KernelCode*> latest_{nullptr};  // the last launch's code
  mutable std::mutex mutex_;                                // guards codes_; held while compiling
  mutable std::vector<std::unique_ptr<KernelCode>> codes_;
};

class Module {
 public:
  Context& context() const { return *context_; }
  static Result<std::unique_ptr<Module>> load(Context* context, std::string_view ptx,
                                              std::string_view name);
  /// Loads the contents of an object file.
  static Result<std::unique_ptr<Module>> load_object(Context* context, std::string_view data,
                                                     std::string_view name);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  const std::string& name() const { return name_; }
  const std::string& ptx() const { return ptx_; }
  /// The contents of an object file with code for these block sizes and for any.
  Result<std::string> save_object(std::span<const std::array<uint32_t, 3>> blocks) const;
  /// The machine that its code is made for.
  const simt::Machine& machine() const { return machine_; }
  /// Code of one of its kernels, from the object file that it was loaded from, or made.
  Result<simt::Object> object(uint32_t kernel, const simt::Variant& variant) const;
  /// True if the module's object file has this code.
  bool has_own_object(uint32_t kernel, const simt::Variant& variant) const;
  const simt::Program& program() const { return *program_; }
  const uint64_t* variable_addresses() const { return addresses_.data(); }
  std::vector<std::unique_ptr<Function>>& functions() { return functions_; }
  Result<kmb_global_info> global(std::string_view name) const;
  /// True if its code calls the device runtime, so that its kernels may launch others.
  bool launches_kernels() const { return !by_address_.empty(); }
  /// The kernel with this address in device code; null if there is none. Only for modules that
  /// launch kernels.
  const Function* kernel_at(uint64_t address) const;

 private:
  Module(Context* context, std::string_view name, const simt::Machine& machine)
      : context_(context), name_(name), machine_(machine) {}
  Status save_kernel(uint32_t kernel, std::span<const std::array<uint32_t, 3>> blocks,
                     ObjectMap* out) const;
  void note_addresses();
  void note_launches();
  Status place_variables();
  uint64_t size_of_variable(uint32_t index) const;
  void initialise_variable(uint32_t index);

  Context* const context_;
  const std::string name_;
  std::string ptx_;
  Hash128 ptx_hash_;
  simt::Machine machine_;
  ObjectMap own_objects_;
  std::shared_ptr<const simt::Program> program_;
  Heap::Block block_;                // holds all variables
  std::vector<uint64_t> addresses_;  // by the variable's index
  std::vector<std::unique_ptr<Function>> functions_;
  std::unordered_map<uint64_t, const Function*> by_address_;  // only if launches_kernels()
};

}  // namespace km::cpu
