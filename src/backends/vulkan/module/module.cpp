#include "backends/vulkan/module/module.h"

#include <algorithm>
#include <cstring>

#include "backends/vulkan/device/device_attributes.h"
#include "backends/vulkan/module/facts.h"
#include "backends/vulkan/stream/context.h"
#include "backends/vulkan/stream/scheduler.h"
#include "base/cuda/compute_capability.h"
#include "base/env.h"
#include "base/memory/host_allocator.h"
#include "ptx/checks/program_check.h"
#include "ptx/target.h"

namespace km::vulkan {
namespace {

constexpr uint32_t kCapability = 10 * kCapabilityMajor + kCapabilityMinor;

/// Refuses code for a newer device than this one, like CUDA's driver.
Status check_target(const ptx::Module& module) {
  const auto target = ptx::find_target(module.target);
  if (target && ptx::runs_on(*target, newest_target(kCapability))) return {};
  return make_error(KM_ERROR_INVALID_PTX,
                    "%s: the module is for %s, the device has compute capability %u.%u: compile "
                    "for sm_%u or an earlier one",
                    module.name.c_str(), module.target.c_str(), kCapabilityMajor, kCapabilityMinor,
                    kCapability);
}

}  // namespace

Result<std::unique_ptr<Module>> Module::load(std::shared_ptr<const Workspace> workspace,
                                             const spirv::DeviceFacts& facts, bool is_checked,
                                             std::string_view ptx, std::string_view name) {
  std::unique_ptr<Module> module(new Module(std::move(workspace)));
  module->name_ = name;
  KM_ASSIGN(const bool is_stepped, env_flag(EnvVar::KM_VULKAN_STEPPED, false));
  module->options_ = {.checked = is_checked, .stepped = is_stepped};
  KM_ASSIGN(module->text_, ptx::parse(ptx, name));
  KM_TRY(check_target(*module->text_));
  KM_TRY(ptx::check_program(*module->text_));
  KM_ASSIGN(module->program_, spirv::Program::load(module->text_, facts, module->options_));
  KM_TRY(module->place_variables());
  for (uint32_t i = 0; i < module->program_->kernels().size(); ++i) {
    module->functions_.push_back(std::make_unique<Function>(*module, i));
  }
  return module;
}

/// Writes the first values of all variables, of which others may be the addresses.
void Module::initialise(uint8_t* image) const {
  const auto variables = program_->variables();
  for (uint32_t i = 0; i < variables.size(); ++i) {
    uint8_t* const own = image + program_->variable_offset(i);
    if (!variables[i].data.empty()) {
      std::memcpy(own, variables[i].data.data(), variables[i].data.size());
    }
    for (const simt::Variable::Address& address : variables[i].addresses) {
      const uint64_t content =
          address.content(variables_->address() + program_->variable_offset(address.target));
      std::memcpy(own + address.offset, &content, address.size_bytes);
    }
  }
}

Status Module::place_variables() {
  const uint64_t size_bytes = program_->variables_bytes();
  if (size_bytes == 0) return {};
  // The host reads and writes the first values, and reads what printf names.
  KM_ASSIGN(variables_, Buffer::of_host(workspace_->epoch, size_bytes));
  auto* const image = static_cast<uint8_t*>(variables_->mapped());
  std::memset(image, 0, size_bytes);
  initialise(image);
  workspace_->epoch->device_memory().add(variables_->address(), size_bytes, variables_->place());
  return {};
}

Module::~Module() {
  if (variables_) workspace_->epoch->device_memory().remove(variables_->address());
}

Result<kmb_global_info> Module::variable(const std::string& name) const {
  const auto variables = program_->variables();
  for (uint32_t i = 0; i < variables.size(); ++i) {
    const simt::Variable& found = variables[i];
    if (found.name != name || !found.is_visible) continue;
    const uint64_t offset = program_->variable_offset(i);
    return kmb_global_info{.address = variables_->address() + offset,
                           .host_pointer = static_cast<uint8_t*>(variables_->mapped()) + offset,
                           .size_bytes = found.size_bytes,
                           .element_size_bytes = found.element_size_bytes,
                           .is_constant = found.is_constant ? 1U : 0U};
  }
  return make_error(KM_ERROR_NOT_FOUND, "module '%s' has no variable '%s'", name_.c_str(),
                    name.c_str());
}

km_status module_load(kmb_context* context, const char* ptx, uint64_t ptx_size_bytes,
                      const char* name, kmb_module** out_module, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    Context& owner = *from(context);
    KM_ASSIGN(std::shared_ptr<const Workspace> workspace, owner.live_workspace());
    KM_ASSIGN(const spirv::DeviceFacts* facts, device_facts(owner.adapter()));
    KM_ASSIGN(
        std::unique_ptr<Module> module,
        Module::load(std::move(workspace), *facts, owner.is_checked, {ptx, ptx_size_bytes}, name));
    *out_module = to(module.release());
    return {};
  });
}

void module_unload(kmb_module* handle, const kmb_use* uses, uint64_t use_count) {
  const HostMemoryNeeded needed;  // the caller cannot handle a lack of memory
  const auto last = std::make_shared<std::unique_ptr<Module>>(from(handle));
  Scheduler::instance().when_over({uses, use_count}, [last] { last->reset(); });
}

km_status module_function_count(kmb_module* module, uint32_t* out_count, kmb_error*) {
  *out_count = static_cast<uint32_t>(from(module)->functions().size());
  return KM_SUCCESS;
}

km_status module_function_at(kmb_module* module, uint32_t index, kmb_function** out_function,
                             kmb_error*) {
  *out_function = to(from(module)->functions()[index].get());
  return KM_SUCCESS;
}

km_status module_global(kmb_module* module, const char* name, kmb_global_info* out_info,
                        kmb_error* error) {
  return guarded(error, [&]() -> Status {
    KM_ASSIGN(*out_info, from(module)->variable(name));
    return {};
  });
}

}  // namespace km::vulkan
