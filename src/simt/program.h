// The contents of a module that Program::load keeps; compile() reads them.
#pragma once

#include "simt/analysis/shape.h"
#include "simt/engine.h"
#include "simt/kernel.h"
#include "simt/layout.h"
#include "simt/transform/inline/inlining_plan.h"

namespace km::simt {

struct AnalysedKernel {
  uint32_t source = 0;                      // the module's function
  std::unique_ptr<ptx::Function> function;  // flattened: what `kernel` points into
  Kernel kernel;
  MemoryLayout layout;
};

class ProgramImpl final : public Program, public std::enable_shared_from_this<ProgramImpl> {
 public:
  /// The first `visible_symbols` of the module are those that its text has at module scope.
  ProgramImpl(std::shared_ptr<const ptx::Module> module, size_t visible_symbols)
      : module_(std::move(module)), visible_symbols_(visible_symbols) {}

  Status analyse(const Interruption* interruption);
  const ptx::Module& module() const override { return *module_; }
  std::span<const KernelInfo> kernels() const override { return infos_; }
  std::span<const Variable> variables() const override { return variables_; }

  const AnalysedKernel& analysed(uint32_t kernel) const { return kernels_[kernel]; }
  /// The kernel with a stack of another size for each thread.
  Result<AnalysedKernel> with_stack(uint32_t kernel, uint64_t stack_bytes) const;
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
  uint64_t constant_bytes_ = 0;  // of all variables in .const space
  std::vector<KernelInfo> infos_;
  std::vector<Variable> variables_;
  std::vector<uint32_t> variable_of_symbol_;
  std::vector<AnalysedKernel> kernels_;
};

/// Lanes of a packet: a warp where lanes work together; else fewer the more code there is and the
/// more values it keeps at once, and what makes indices simplest in blocks of several rows.
uint32_t choose_lanes(const Kernel& kernel, const Variant& variant);

/// Threads side by side that work together: 1, as many as exchange data with each other, a warp.
uint32_t threads_together(const Kernel& kernel, const Shapes& shapes);

}  // namespace km::simt
