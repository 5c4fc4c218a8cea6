// Modules: PTX whose kernels became SPIR-V, with the memory of their variables.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/interface.h"
#include "backends/vulkan/device/buffer.h"
#include "backends/vulkan/module/pipeline.h"
#include "backends/vulkan/stream/workspace.h"
#include "spirv/spirv.h"

namespace km::vulkan {

class Module;

class Function {
 public:
  Function(const Module& module, uint32_t index);

  const Module& module() const { return module_; }
  const spirv::Kernel& kernel() const { return kernel_; }
  const simt::KernelInfo& info() const { return kernel_.info; }
  const kmb_function_info& native_info() const { return native_info_; }
  uint64_t max_dynamic_shared_bytes() const { return max_dynamic_shared_bytes_.load(); }
  Status set_max_dynamic_shared_bytes(int64_t value);
  Result<int64_t> attribute(km_function_attribute attribute) const;
  /// The code for a block with this dynamic shared memory.
  Result<VkPipeline> pipeline(const uint32_t block[3], uint64_t shared_bytes);
  VkPipelineLayout layout() const { return pipelines_.layout(); }
  /// The kernel's name as its source has it, for messages.
  std::string source_name() const;
  /// The place of a line of the PTX text, for messages.
  std::string position_of(uint32_t ptx_line) const;

 private:
  const Module& module_;
  const uint32_t index_;
  const spirv::Kernel& kernel_;
  std::vector<kmb_param> params_;
  kmb_function_info native_info_{};
  std::atomic<uint64_t> max_dynamic_shared_bytes_{0};
  Pipelines pipelines_;
};

class Module {
 public:
  static Result<std::unique_ptr<Module>> load(std::shared_ptr<const Workspace> workspace,
                                              const spirv::DeviceFacts& facts, bool is_checked,
                                              std::string_view ptx, std::string_view name);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  const Workspace& workspace() const { return *workspace_; }
  const std::shared_ptr<Epoch>& epoch() const { return workspace_->epoch; }
  const spirv::Program& program() const { return *program_; }
  const ptx::Module& text() const { return *text_; }
  const std::string& name() const { return name_; }
  const spirv::Options& options() const { return options_; }
  const std::vector<std::unique_ptr<Function>>& functions() const { return functions_; }
  /// The address of the variables' memory; 0 without variables.
  uint64_t variables_address() const { return variables_ ? variables_->address() : 0; }
  Result<kmb_global_info> variable(const std::string& name) const;

 private:
  explicit Module(std::shared_ptr<const Workspace> workspace) : workspace_(std::move(workspace)) {}
  Status place_variables();
  void initialise(uint8_t* image) const;

  const std::shared_ptr<const Workspace> workspace_;
  std::string name_;
  std::shared_ptr<const ptx::Module> text_;
  std::shared_ptr<const spirv::Program> program_;
  spirv::Options options_;
  std::unique_ptr<Buffer> variables_;
  std::vector<std::unique_ptr<Function>> functions_;
};

}  // namespace km::vulkan
