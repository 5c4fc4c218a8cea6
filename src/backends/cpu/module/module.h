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
#include "backends/cpu/module/kernel_facts.h"
#include "backends/cpu/module/module_variables.h"
#include "backends/cpu/module/object_cache.h"
#include "base/hash.h"
#include "base/occupancy.h"
#include "ptx/index/module_index.h"
#include "simt/engine.h"

namespace km::cpu {

class Context;
class Function;
class Module;
struct ObjectFile;

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
  std::vector<std::string> callers_of(uint32_t line) const override;
  std::string parameters_in(const uint8_t* params, uint64_t begin, uint64_t bytes) const override;

 private:
  const Function* const function_;
  const simt::Variant variant_;
  const std::unique_ptr<simt::Code> code_;
};

class Function {
 public:
  Function(Module* module, std::string name);
  const Module& module() const { return *module_; }
  const std::string& name() const { return name_; }
  /// Finds what the functions below tell, at the first call, with the kernel's variables.
  Status learn();
  bool is_known() const { return is_known_.load(std::memory_order_acquire); }
  const simt::KernelInfo& kernel() const { return facts_.info; }
  const kmb_function_info& info() const { return info_; }
  void set_launches_grids() { info_.launches_grids = 1; }

  Result<int64_t> attribute(km_function_attribute attribute);
  Status set_attribute(km_function_attribute attribute, int64_t value);
  uint64_t max_dynamic_shared_bytes() const {
    return max_dynamic_shared_bytes_.load(std::memory_order_relaxed);
  }
  /// True if a block may have this much dynamic shared memory.
  bool may_have_shared(uint64_t dynamic_bytes) const {
    const KernelNeeds needs = {.static_shared_bytes = kernel().shared_static_bytes,
                               .max_dynamic_shared_bytes = max_dynamic_shared_bytes()};
    return km::may_have_shared(block_shared_bytes_, needs, dynamic_bytes);
  }

  /// The addresses of the variables of the kernel's program.
  const uint64_t* variable_addresses() const { return variable_addresses_.data(); }
  /// The debug line (.loc) of a line of the text: "scale.cu:12"; empty if it has none.
  std::string source_position(uint32_t ptx_line) const;
  /// The calls that CodeUnit::callers_of() names.
  std::vector<std::string> source_callers(uint32_t ptx_line) const;
  /// Code from the object file that the module was loaded from, from the cache, or made.
  Result<simt::Object> object(const simt::Variant& variant) const;
  std::string object_key(const simt::Variant& variant) const;

  /// The most blocks that a cluster may have.
  uint32_t max_cluster_blocks() const;

  /// Returns code for this launch, and compiles it at the first use. `suspends` requests code that
  /// can wait for other blocks at a cluster's barrier.
  Result<const KernelCode*> code_for(const simt::LaunchRecord& record, bool suspends) const;
  /// Compiles the code for blocks of this size.
  Status prepare(const uint32_t block[3]) const;
  /// Calls visit(const simt::Code&) with the code of each variant.
  template <class Visit>
  void for_each_code(Visit&& visit) const {
    const std::lock_guard lock(mutex_);
    for (const auto& each : codes_) visit(each->code());
  }
  /// The tools that code of the function is made for now.
  uint16_t tools() const;
  simt::Variant variant_for(const uint32_t block[3], bool assume_no_wrap,
                            bool suspends = false) const;

 private:
  int64_t registers() const;
  uint64_t thread_stack_bytes() const;
  bool has_own_object(const simt::Variant& variant) const;
  /// The storage of an attribute without effect on a CPU; null for other attributes.
  std::atomic<int32_t>* hint(km_function_attribute attribute);
  static Status set_hint(std::atomic<int32_t>* kept, km_function_attribute attribute,
                         int64_t value);
  Result<const KernelCode*> find_or_compile(const simt::Variant& variant) const;
  simt::Variant variant_to_make(const simt::Variant& wanted) const;

  Module* const module_;
  const std::string name_;
  std::mutex learn_mutex_;  // held while the kernel is analysed for the first time
  std::atomic<bool> is_known_{false};
  KernelFacts facts_;
  std::vector<uint64_t> variable_addresses_;
  // Most shared memory of a block that opts in to more than the default.
  const uint64_t block_shared_bytes_;
  std::vector<kmb_param> params_;
  kmb_function_info info_{};
  std::atomic<uint64_t> max_dynamic_shared_bytes_{0};
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
  Result<std::string> save_object(std::span<const std::array<uint32_t, 3>> blocks);
  /// The machine that its code is made for.
  const simt::Machine& machine() const { return machine_; }
  /// Code from the object file that it was loaded from.
  const ObjectMap& own_objects() const { return own_objects_; }
  std::vector<std::unique_ptr<Function>>& functions() { return functions_; }
  Result<kmb_global_info> global(std::string_view name);
  /// True if its code calls the device runtime, so that its kernels may launch others.
  bool launches_kernels() const { return !by_address_.empty(); }
  /// The kernel with this address in device code; null if there is none. Only for modules that
  /// launch kernels.
  const Function* kernel_at(uint64_t address) const;

  /// Finds the kernel's facts, and gives its variables memory.
  Result<KernelFacts> learn(const std::string& kernel);
  /// Analyses the kernel, with what it refers to, if its module was not loaded at once, or has the
  /// program that learn() has just made.
  Result<KernelProgram> program_of(std::string_view kernel);
  /// Frees the program that learn() has made.
  void forget_program();
  std::vector<uint64_t> addresses_of(std::span<const std::string> variables) const;

 private:
  Module(Context* context, std::string_view ptx, std::string_view name);
  Status load_at_once();
  Result<KernelProgram> analyse(std::string_view kernel, const ptx::Excerpt& excerpt);
  Status analyse_whole(std::shared_ptr<const ptx::Module> parsed);
  Status need_whole();
  Status place(std::span<const std::string> variables);
  Status save_kernel(Function& function, std::span<const std::array<uint32_t, 3>> blocks,
                     ObjectFile* file);
  void note_addresses();
  void note_launches();

  Context* const context_;
  const std::string name_;
  const std::string ptx_;
  simt::Machine machine_;
  ObjectMap own_objects_;
  std::optional<ptx::ModuleIndex> index_;         // nothing if the module was loaded at once
  mutable std::mutex mutex_;                      // guards the members up to variables_
  std::string kept_kernel_;                       // of kept_
  KernelProgram kept_;                            // for the code that is usually made next
  std::shared_ptr<const simt::Program> program_;  // of the whole text; null unless one is needed
  Hash128 program_hash_;                          // of the text of program_
  ModuleVariables variables_;
  std::vector<std::unique_ptr<Function>> functions_;
  std::unordered_map<uint64_t, const Function*> by_address_;  // only if launches_kernels()
};

}  // namespace km::cpu
