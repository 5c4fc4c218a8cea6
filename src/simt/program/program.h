// The implementation of Program: the data of a loaded module, which compile() reads.
#pragma once

#include "simt/analysis/shape.h"
#include "simt/engine.h"
#include "simt/kernel/kernel.h"
#include "simt/kernel/layout.h"
#include "simt/transform/inline/inlining_plan.h"

namespace km::simt {

struct AnalysedKernel {
  uint32_t source = 0;                      // index of the function in the module
  std::unique_ptr<ptx::Function> function;  // flattened function, to which `kernel` refers
  Kernel kernel;
  MemoryLayout layout;
  /// The layout whose elements of local memory lie side by side, if the kernel's accesses let them.
  MemoryLayout side_by_side;

  /// The layout of generated code. The checker's tools describe the local memory of each lane by a
  /// range.
  const MemoryLayout& layout_for(const Variant& variant) const {
    return variant.tools == 0 ? side_by_side : layout;
  }
};

class ProgramImpl final : public Program, public std::enable_shared_from_this<ProgramImpl> {
 public:
  /// The first `visible_symbols` symbols of the module are those at module scope in its text.
  ProgramImpl(std::shared_ptr<const ptx::Module> module, size_t visible_symbols)
      : module_(std::move(module)), visible_symbols_(visible_symbols) {}

  Status analyse(const Interruption* interruption);
  const ptx::Module& module() const override { return *module_; }
  std::span<const KernelInfo> kernels() const override { return infos_; }
  std::span<const Variable> variables() const override { return variables_; }

  const AnalysedKernel& analysed(uint32_t kernel) const { return kernels_[kernel]; }
  /// The kernel analysed with another stack size per thread, or with marks of what is undefined.
  Result<AnalysedKernel> rebuild(uint32_t kernel, uint64_t stack_bytes, bool is_marked) const;
  /// True if the kernel has local memory, or may read registers that nothing has written.
  bool may_be_undefined(uint32_t kernel) const;
  const std::vector<uint32_t>& variable_of_symbol() const { return variable_of_symbol_; }

 private:
  Status collect_variables();
  Status collect_addresses();
  Result<AnalysedKernel> build(const InliningCosts& costs, uint32_t index,
                               uint64_t stack_bytes) const;
  Status add_kernel(const InliningCosts& costs, uint32_t index);
  void add_refused(const ptx::Function& function, const Error& error);

  std::shared_ptr<const ptx::Module> module_;
  const size_t visible_symbols_;
  uint64_t constant_bytes_ = 0;  // size of all variables in .const space
  std::vector<KernelInfo> infos_;
  std::vector<Variable> variables_;
  std::vector<uint32_t> variable_of_symbol_;
  std::vector<AnalysedKernel> kernels_;
};

/// The number of lanes of a packet: a warp if its lanes cooperate; otherwise fewer lanes for longer
/// code with more live values, and the number with the simplest index computations for blocks of
/// several rows.
uint32_t choose_lanes(const Kernel& kernel, const Variant& variant);

/// The number of consecutive threads that cooperate: 1, the number that exchange data, or a warp.
uint32_t threads_together(const Kernel& kernel, const Shapes& shapes);

}  // namespace km::simt
