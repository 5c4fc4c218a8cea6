#include "backends/cpu/module/module.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "backends/cpu/config/config.h"
#include "backends/cpu/device/context.h"
#include "backends/cpu/device/entries.h"
#include "backends/cpu/fault/fault.h"
#include "backends/cpu/module/compile_interruption.h"
#include "backends/cpu/module/device_runtime.h"
#include "backends/cpu/module/object_file.h"
#include "backends/cpu/stream/context_streams.h"
#include "backends/cpu/stream/stream.h"
#include "base/cuda/compute_capability.h"
#include "base/text.h"
#include "ptx/checks/program_check.h"
#include "ptx/target.h"
#include "simt/transform/inline/call_graph.h"

namespace km::cpu {
namespace {

/// Refuses code for a newer device than this one, like CUDA's driver; see newest_target.
Status check_target(const ptx::Module& module) {
  constexpr uint32_t kUnitsOfMajor = 10;
  const uint32_t major = config().capability_major, minor = config().capability_minor;
  const auto target = ptx::find_target(module.target);
  const uint32_t newest = newest_target(kUnitsOfMajor * major + minor);
  if (target && ptx::runs_on(*target, newest)) return {};
  return make_error(
      KM_ERROR_INVALID_PTX,
      "%s: the module is for %s, the device has compute capability %u.%u: compile for "
      "sm_%u%u or an earlier one, or set KM_CPU_CC",
      module.name.c_str(), module.target.c_str(), major, minor, major, minor);
}

}  // namespace

Result<std::unique_ptr<Module>> Module::load(Context* context, std::string_view ptx,
                                             std::string_view name) {
  KM_TRY(context->check());
  KM_ASSIGN(std::shared_ptr<const ptx::Module> parsed, ptx::parse(ptx, name));
  std::string linked;
  if (const std::string runtime = device_runtime_for(*parsed); !runtime.empty()) {
    linked = std::string(ptx) + "\n" + runtime;
    KM_ASSIGN(parsed, ptx::parse(linked, name));
  }
  KM_TRY(check_target(*parsed));
  KM_TRY(ptx::check_program(*parsed));
  const CompileInterruption interruption(*context, "module '" + std::string(name) + "'");
  KM_ASSIGN(std::shared_ptr<const simt::Program> program,
            simt::Program::load(parsed, &interruption));
  std::unique_ptr<Module> module(new Module(context, name, config().machine));
  context->retain();
  module->program_ = std::move(program);
  module->ptx_ = ptx;
  module->ptx_hash_ = hash128(linked.empty() ? ptx : linked);
  KM_TRY(module->place_variables());
  for (uint32_t i = 0; i < module->program_->kernels().size(); ++i) {
    module->functions_.push_back(std::make_unique<Function>(module.get(), i));
  }
  if (!linked.empty()) {
    module->note_addresses();
    module->note_launches();
  }
  return module;
}

Result<std::unique_ptr<Module>> Module::load_object(Context* context, std::string_view data,
                                                    std::string_view name) {
  KM_ASSIGN(ObjectFile file, read_object_file(data));
  KM_ASSIGN(std::unique_ptr<Module> module, load(context, file.ptx, name));
  module->machine_ = file.machine;
  module->own_objects_ = std::move(file.code);
  return module;
}

Result<simt::Object> Module::object(uint32_t kernel, const simt::Variant& variant) const {
  const CompileInterruption interruption(*context_,
                                         "kernel '" + program_->kernels()[kernel].name + "'");
  return find_or_make_object(*program_, kernel, variant, ptx_hash_, own_objects_, interruption);
}

bool Module::has_own_object(uint32_t kernel, const simt::Variant& variant) const {
  if (own_objects_.empty()) return false;
  return own_objects_.count(object_key(program_->kernels()[kernel], variant, ptx_hash_)) != 0;
}

Status Module::save_kernel(uint32_t kernel, std::span<const std::array<uint32_t, 3>> blocks,
                           ObjectMap* out) const {
  std::vector<std::array<uint32_t, 3>> sizes{{0, 1, 1}, {0, 0, 0}};
  const simt::KernelInfo& info = program_->kernels()[kernel];
  for (const auto& block : blocks) {  // skips block sizes that the kernel cannot be launched with
    const bool other = info.required_block[0] != 0 && info.required_block != block;
    const bool fits = uint64_t{block[0]} * block[1] * block[2] <= info.max_threads;
    if (fits && !other) sizes.push_back(block);
  }
  for (const auto& size : sizes) {
    for (const bool suspends : {false, info.meets_cluster}) {
      for (const bool assume_no_wrap : {true, false}) {
        simt::Variant variant =
            functions_[kernel]->variant_for(size.data(), assume_no_wrap, suspends);
        variant.checked = config().checks_all();
        KM_ASSIGN(simt::Object made, object(kernel, variant));
        out->emplace(object_key(info, variant, ptx_hash_), std::move(made));
      }
    }
  }
  return {};
}

Result<std::string> Module::save_object(std::span<const std::array<uint32_t, 3>> blocks) const {
  ObjectFile file;
  file.machine = machine_;
  file.ptx = ptx_;
  for (uint32_t i = 0; i < functions_.size(); ++i) {
    if (functions_[i]->info().refusal == nullptr) KM_TRY(save_kernel(i, blocks, &file.code));
  }
  return write_object_file(file);
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

/// Marks the kernels that can reach a function that launches work.
void Module::note_launches() {
  const simt::CallGraph calls(program_->module());
  const std::vector<ptx::Function>& all = program_->module().functions;
  std::vector<bool> launches(calls.calls().size());
  for (size_t i = 0; i < all.size(); ++i) launches[i] = launches_grids(all[i].name);
  for (bool changes = true; changes;) {  // repeats until nothing changes: twice without recursion
    changes = false;
    for (const uint32_t node : calls.callees_first()) {
      const std::vector<uint32_t>& callees = calls.calls()[node];
      const bool leads = std::any_of(callees.begin(), callees.end(),
                                     [&](uint32_t callee) { return launches[callee]; });
      changes = changes || (leads && !launches[node]);
      launches[node] = launches[node] || leads;
    }
  }
  for (size_t i = 0; i < all.size(); ++i) {
    for (const auto& function : functions_) {
      if (launches[i] && function->kernel().name == all[i].name) function->set_launches_grids();
    }
  }
}

void Module::note_addresses() {
  const std::vector<ptx::Function>& all = program_->module().functions;
  for (uint32_t i = 0; i < all.size(); ++i) {
    for (const auto& function : functions_) {
      if (!all[i].is_entry || function->kernel().name != all[i].name) continue;
      by_address_.emplace(simt::function_address(i), function.get());
    }
  }
}

const Function* Module::kernel_at(uint64_t address) const {
  const auto found = by_address_.find(address);
  return found == by_address_.end() ? nullptr : found->second;
}

Status Module::place_variables() {
  uint64_t size_bytes = 0;
  for (const simt::Variable& variable : program_->variables()) {
    // Variables are aligned like allocations, so that each can become a slice.
    size_bytes = round_up(size_bytes, std::max<uint64_t>(variable.align_bytes, Heap::kAlignBytes));
    addresses_.push_back(size_bytes);
    size_bytes += size_of_variable(static_cast<uint32_t>(addresses_.size() - 1));
    // The gap keeps an access beyond a variable's end from hitting the next one.
    if (context_->is_checked()) size_bytes += Heap::kAlignBytes;
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
    const uint64_t value = address.content(addresses_[address.target]);
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
  std::vector<std::string_view> visible;
  for (const simt::Variable& variable : variables) {
    if (variable.is_visible) visible.emplace_back(variable.name);
  }
  return Error{KM_ERROR_NOT_FOUND, "module '" + name_ + "' has no visible variable '" +
                                       std::string(name) + "'." + suggestion(name, visible)};
}

km_status module_load(kmb_context* context, const char* ptx, uint64_t ptx_size_bytes,
                      const char* name, kmb_module** out_module, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    put_handler_in_front(Look::all);
    KM_ASSIGN(std::unique_ptr<Module> module,
              Module::load(from(context), std::string_view(ptx, ptx_size_bytes),
                           name != nullptr ? name : "module.ptx"));
    *out_module = to(module.release());
    return {};
  });
}

km_status module_load_object(kmb_context* context, const void* data, uint64_t size_bytes,
                             const char* name, kmb_module** out_module, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    const std::string_view content(static_cast<const char*>(data), size_bytes);
    KM_ASSIGN(std::unique_ptr<Module> module,
              Module::load_object(from(context), content, name != nullptr ? name : "module.kmo"));
    *out_module = to(module.release());
    return {};
  });
}

km_status module_save_object(kmb_module* handle, const uint32_t* blocks, uint64_t block_count,
                             void (*receive)(void*, const void*, uint64_t), void* user_data,
                             kmb_error* error) {
  return guarded(error, [&]() -> Status {
    std::vector<std::array<uint32_t, 3>> sizes;
    for (uint64_t i = 0; i < block_count; ++i) {
      sizes.push_back({blocks[3 * i], blocks[3 * i + 1], blocks[3 * i + 2]});
    }
    KM_ASSIGN(const std::string content, from(handle)->save_object(sizes));
    receive(user_data, content.data(), content.size());
    return {};
  });
}

void module_unload(kmb_module* handle, const kmb_use* uses, uint64_t use_count) {
  std::unique_ptr<Module> module(from(handle));
  Context& context = module->context();
  const bool graphs_run_anywhere = context.device_graphs().has_had_any();
  try {
    std::vector<kmb_use> all(uses, uses + use_count);
    if (graphs_run_anywhere) add_uses(context, &all);
    Module* last = module.get();
    when_all_complete(all, [last] { std::unique_ptr<Module> own(last); });
    static_cast<void>(module.release());
  } catch (const std::bad_alloc&) {
    wait_for_all(std::span(uses, use_count));
    if (graphs_run_anywhere) drain(context);
  }
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
      return make_error(KM_ERROR_NOT_FOUND, "module '%s' has %s: there is no index %u",
                        module->name().c_str(),
                        counted(module->functions().size(), "kernel").c_str(), index);
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
