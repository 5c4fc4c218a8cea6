#include "backends/cpu/module.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "backends/cpu/context.h"
#include "backends/cpu/entries.h"
#include "backends/cpu/stream.h"

namespace km::cpu {

Result<std::unique_ptr<Module>> Module::load(Context* context, std::string_view ptx,
                                             std::string_view name) {
  KM_TRY(context->check());
  KM_ASSIGN(std::shared_ptr<const ptx::Module> parsed, ptx::parse(ptx, name));
  KM_ASSIGN(std::shared_ptr<const simt::Program> program, simt::Program::load(parsed));
  context->retain();
  std::unique_ptr<Module> module(new Module(context, name));
  module->program_ = std::move(program);
  module->ptx_hash_ = hash128(ptx);
  KM_TRY(module->place_variables());
  for (uint32_t i = 0; i < module->program_->kernels().size(); ++i) {
    module->functions_.push_back(std::make_unique<Function>(module.get(), i));
  }
  return module;
}

Module::~Module() {
  if (block_.address != 0) {
    for (uint32_t i = 0; i < addresses_.size(); ++i) {
      context_->allocations().remove(addresses_[i], size_of_variable(i));
    }
    Heap::instance().free(block_);
  }
  context_->release();
}

Status Module::place_variables() {
  uint64_t size_bytes = 0;
  for (const simt::Variable& variable : program_->variables()) {
    if (variable.is_external) {
      return make_error(
          KM_ERROR_INVALID_PTX,
          "%s: variable '%s' is external, but modules are not linked with each other: "
          "define it here",
          name_.c_str(), variable.name.c_str());
    }
    // Aligned as an allocation is, so that each can be handed out as a slice.
    size_bytes = round_up(size_bytes, std::max<uint64_t>(variable.align_bytes, Heap::kAlignBytes));
    addresses_.push_back(size_bytes);
    size_bytes += size_of_variable(static_cast<uint32_t>(addresses_.size() - 1));
  }
  if (size_bytes == 0) return {};
  KM_ASSIGN(block_, Heap::instance().allocate(size_bytes, true));
  if (!block_.fresh) memset(reinterpret_cast<void*>(block_.address), 0, size_bytes);
  for (uint64_t& address : addresses_) address += block_.address;
  for (uint32_t i = 0; i < addresses_.size(); ++i) {
    context_->allocations().add(addresses_[i], size_of_variable(i));
    initialise_variable(i);
  }
  return {};
}

uint64_t Module::size_of_variable(uint32_t index) const {
  return std::max<uint64_t>(program_->variables()[index].size_bytes, 1);
}

void Module::initialise_variable(uint32_t index) {
  const simt::Variable& variable = program_->variables()[index];
  auto* data = reinterpret_cast<uint8_t*>(addresses_[index]);
  if (!variable.data.empty()) memcpy(data, variable.data.data(), variable.data.size());
  for (const simt::Variable::Address& address : variable.addresses) {
    uint64_t value = addresses_[address.target] + static_cast<uint64_t>(address.addend);
    memcpy(data + address.offset, &value, std::min<size_t>(address.size_bytes, sizeof value));
  }
}

Result<kmb_global_info> Module::global(std::string_view name) const {
  std::span<const simt::Variable> variables = program_->variables();
  for (uint32_t i = 0; i < variables.size(); ++i) {
    const simt::Variable& variable = variables[i];
    if (variable.name != name || !variable.is_visible) continue;
    return kmb_global_info{addresses_[i], reinterpret_cast<void*>(addresses_[i]),
                           variable.size_bytes, variable.element_size_bytes,
                           variable.is_constant ? 1u : 0u};
  }
  return make_error(KM_ERROR_NOT_FOUND, "module '%s' has no visible variable '%.*s'", name_.c_str(),
                    static_cast<int>(name.size()), name.data());
}

km_status module_load(kmb_context* context, const char* ptx, uint64_t ptx_size_bytes,
                      const char* name, kmb_module** out_module, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    KM_ASSIGN(std::unique_ptr<Module> module,
              Module::load(from(context), std::string_view(ptx, ptx_size_bytes),
                           name != nullptr ? name : "module.ptx"));
    *out_module = to(module.release());
    return {};
  });
}

void module_unload(kmb_module* handle, const kmb_use* uses, uint64_t use_count) {
  Module* module = from(handle);
  when_all_complete(std::span(uses, use_count), [module] { std::unique_ptr<Module> last(module); });
}

km_status module_function_count(kmb_module* module, uint32_t* out_count, kmb_error*) {
  *out_count = static_cast<uint32_t>(from(module)->functions().size());
  return KM_SUCCESS;
}

km_status module_function_at(kmb_module* handle, uint32_t index, kmb_function** out_function,
                             kmb_error* error) {
  return guarded(error, [&]() -> Status {
    Module* module = from(handle);
    if (index >= module->functions().size()) {
      return make_error(KM_ERROR_NOT_FOUND, "module '%s' has %zu kernels: there is no index %u",
                        module->name().c_str(), module->functions().size(), index);
    }
    *out_function = to(module->functions()[index].get());
    return {};
  });
}

km_status module_global(kmb_module* module, const char* name, kmb_global_info* out_info,
                        kmb_error* error) {
  return guarded(error, [&]() -> Status {
    KM_ASSIGN(*out_info, from(module)->global(name));
    return {};
  });
}

}  // namespace km::cpu
