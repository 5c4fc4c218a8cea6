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
#include "backends/cpu/module/sample_dump.h"
#include "backends/cpu/stream/context_streams.h"
#include "backends/cpu/stream/stream.h"
#include "base/assert.h"
#include "base/cuda/compute_capability.h"
#include "base/file/disk_cache.h"
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

/// The index for loading kernels when they are used. Nothing if the text has no index, or if its
/// kernels launch others, which they may reach by any address.
std::optional<ptx::ModuleIndex> lazy_index(std::string_view ptx) {
  std::optional<ptx::ModuleIndex> index = ptx::ModuleIndex::read(ptx);
  if (!index) return index;
  for (const std::string_view function : index->missing_functions()) {
    if (is_device_runtime(function)) return std::nullopt;
  }
  return index;
}

uint32_t index_of(const simt::Program& program, std::string_view kernel) {
  const std::span<const simt::KernelInfo> kernels = program.kernels();
  const auto found = std::find_if(kernels.begin(), kernels.end(),
                                  [&](const simt::KernelInfo& one) { return one.name == kernel; });
  KM_ASSERT(found != kernels.end(), "a program has the kernels of its text");
  return static_cast<uint32_t>(found - kernels.begin());
}

std::optional<KernelFacts> find_facts(const DiskCache& cache, const std::string& key) {
  const std::optional<std::vector<uint8_t>> data = cache.find(key);
  return data ? KernelFacts::read(*data) : std::nullopt;
}

}  // namespace

Module::Module(Context* context, std::string_view ptx, std::string_view name)
    : context_(context), name_(name), ptx_(ptx), machine_(config().machine), variables_(context) {
  context_->retain();
}

Result<std::unique_ptr<Module>> Module::load(Context* context, std::string_view ptx,
                                             std::string_view name) {
  KM_TRY(context->check());
  std::unique_ptr<Module> module(new Module(context, ptx, name));
  if (ptx.size() >= config().lazy_bytes) module->index_ = lazy_index(module->ptx_);
  if (!module->index_) {
    KM_TRY(module->load_at_once());
    return module;
  }
  KM_ASSIGN(const std::shared_ptr<const ptx::Module> header,
            ptx::parse_excerpt(module->ptx_, module->index_->excerpt({}), name));
  KM_TRY(check_target(*header));
  for (const std::string_view entry : module->index_->entries()) {
    module->functions_.push_back(std::make_unique<Function>(module.get(), std::string(entry)));
  }
  return module;
}

Status Module::load_at_once() {
  KM_ASSIGN(std::shared_ptr<const ptx::Module> parsed, ptx::parse(ptx_, name_));
  std::string linked;
  if (const std::string runtime = device_runtime_for(*parsed); !runtime.empty()) {
    linked = ptx_ + "\n" + runtime;
    KM_ASSIGN(parsed, ptx::parse(linked, name_));
  }
  KM_TRY(check_target(*parsed));
  KM_TRY(analyse_whole(std::move(parsed)));
  program_hash_ = hash128(linked.empty() ? ptx_ : linked);
  for (const simt::KernelInfo& kernel : program_->kernels()) {
    functions_.push_back(std::make_unique<Function>(this, kernel.name));
    KM_TRY(functions_.back()->learn());
  }
  if (!linked.empty()) {
    note_addresses();
    note_launches();
  }
  return {};
}

Result<std::unique_ptr<Module>> Module::load_object(Context* context, std::string_view data,
                                                    std::string_view name) {
  KM_ASSIGN(ObjectFile file, read_object_file(data));
  KM_ASSIGN(std::unique_ptr<Module> module, load(context, file.ptx, name));
  module->machine_ = file.machine;
  module->own_objects_ = std::move(file.code);
  return module;
}

/// Keeps the program of the whole text, whose variables then have memory.
Status Module::analyse_whole(std::shared_ptr<const ptx::Module> parsed) {
  KM_TRY(ptx::check_program(*parsed));
  const CompileInterruption interruption(*context_, "module '" + name_ + "'");
  KM_ASSIGN(std::shared_ptr<const simt::Program> program,
            simt::Program::load(std::move(parsed), &interruption));
  KM_TRY(variables_.place(*program));
  program_ = std::move(program);
  return {};
}

/// A function's address is its number in the whole text, so kernels that use one need all of it.
Result<KernelProgram> Module::analyse(std::string_view kernel, const ptx::Excerpt& excerpt) {
  if (!excerpt.calls_pointers) {
    KM_ASSIGN(std::shared_ptr<const ptx::Module> parsed, ptx::parse_excerpt(ptx_, excerpt, name_));
    if (!ptx::uses_function_addresses(*parsed)) {
      KM_TRY(ptx::check_program(*parsed));
      const CompileInterruption interruption(*context_, "kernel '" + std::string(kernel) + "'");
      KM_ASSIGN(std::shared_ptr<const simt::Program> program,
                simt::Program::load(std::move(parsed), &interruption));
      const uint32_t index = index_of(*program, kernel);
      return KernelProgram{std::move(program), index, excerpt.hash};
    }
  }
  const std::lock_guard lock(mutex_);
  KM_TRY(need_whole());
  return KernelProgram{program_, index_of(*program_, kernel), program_hash_};
}

/// The caller must hold mutex_.
Status Module::need_whole() {
  if (program_ != nullptr) return {};
  KM_ASSIGN(std::shared_ptr<const ptx::Module> parsed, ptx::parse(ptx_, name_));
  program_hash_ = hash128(ptx_);
  return analyse_whole(std::move(parsed));
}

Result<KernelProgram> Module::program_of(std::string_view kernel) {
  if (!index_) return KernelProgram{program_, index_of(*program_, kernel), program_hash_};
  {
    const std::lock_guard lock(mutex_);
    if (kept_kernel_ == kernel && kept_.program != nullptr) return KernelProgram(kept_);
  }
  return analyse(kernel, index_->excerpt({&kernel, 1}));
}

void Module::forget_program() {
  const std::lock_guard lock(mutex_);
  kept_ = {};
}

Result<KernelFacts> Module::learn(const std::string& kernel) {
  if (!index_) {
    KM_ASSIGN(const KernelProgram program, program_of(kernel));
    return KernelFacts::of(program);
  }
  const std::string_view name = kernel;
  const ptx::Excerpt excerpt = index_->excerpt({&name, 1});
  DiskCache* const cache = simt::dumps_stages() ? nullptr : DiskCache::instance();
  const std::string key = KernelFacts::key(kernel, excerpt.hash);
  if (cache != nullptr) {
    std::optional<KernelFacts> known = find_facts(*cache, key);
    if (known) {
      KM_TRY(place(known->variables));
      return std::move(*known);
    }
  }
  KM_ASSIGN(KernelProgram program, analyse(kernel, excerpt));
  KernelFacts facts = KernelFacts::of(program);
  const bool is_own = facts.text_hash == excerpt.hash;
  if (cache != nullptr && is_own && facts.can_be_kept()) cache->keep(key, facts.write());
  const std::lock_guard lock(mutex_);
  KM_TRY(variables_.place(*program.program));
  kept_kernel_ = kernel;
  kept_ = std::move(program);
  return facts;
}

/// Parses those of the variables that have no memory yet, and gives it to them.
Status Module::place(std::span<const std::string> variables) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string_view> missing;
  for (const std::string& name : variables) {
    if (!variables_.has(name)) missing.emplace_back(name);
  }
  if (missing.empty()) return {};
  KM_ASSIGN(std::shared_ptr<const ptx::Module> parsed,
            ptx::parse_excerpt(ptx_, index_->excerpt(missing), name_));
  if (ptx::uses_function_addresses(*parsed)) return need_whole();
  KM_TRY(ptx::check_program(*parsed));
  const CompileInterruption interruption(*context_, "module '" + name_ + "'");
  KM_ASSIGN(const std::shared_ptr<const simt::Program> program,
            simt::Program::load(std::move(parsed), &interruption));
  return variables_.place(*program);
}

std::vector<uint64_t> Module::addresses_of(std::span<const std::string> variables) const {
  const std::lock_guard lock(mutex_);
  return variables_.addresses_of(variables);
}

Status Module::save_kernel(Function& function, std::span<const std::array<uint32_t, 3>> blocks,
                           ObjectFile* file) {
  const Status known = function.learn();
  const bool is_refused = !known && known.error().status == KM_ERROR_UNSUPPORTED_PTX;
  if (is_refused || (known && !function.kernel().refusal.empty())) return {};
  KM_TRY(known);
  const simt::KernelInfo& info = function.kernel();
  std::vector<std::array<uint32_t, 3>> sizes{{0, 1, 1}, {0, 0, 0}};
  for (const auto& block : blocks) {  // skips block sizes that the kernel cannot be launched with
    const bool other = info.required_block[0] != 0 && info.required_block != block;
    const bool fits = uint64_t{block[0]} * block[1] * block[2] <= info.max_threads;
    if (fits && !other) sizes.push_back(block);
  }
  for (const auto& size : sizes) {
    for (const bool suspends : {false, info.meets_cluster}) {
      for (const bool assume_no_wrap : {true, false}) {
        simt::Variant variant = function.variant_for(size.data(), assume_no_wrap, suspends);
        variant.checked = config().checks_all();
        variant.machine = file->machine;
        KM_ASSIGN(simt::Object made, function.object(variant));
        file->code.emplace(function.object_key(variant), std::move(made));
      }
    }
  }
  return {};
}

Result<std::string> Module::save_object(std::span<const std::array<uint32_t, 3>> blocks) {
  ObjectFile file;
  file.machine = config().object_machine.value_or(machine_);
  file.ptx = ptx_;
  for (const auto& function : functions_) {
    KM_TRY(save_kernel(*function, blocks, &file));
    forget_program();
  }
  return write_object_file(file);
}

Module::~Module() {
  print_samples(*this);
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
      if (launches[i] && function->name() == all[i].name) function->set_launches_grids();
    }
  }
}

void Module::note_addresses() {
  const std::vector<ptx::Function>& all = program_->module().functions;
  for (uint32_t i = 0; i < all.size(); ++i) {
    for (const auto& function : functions_) {
      if (!all[i].is_entry || function->name() != all[i].name) continue;
      by_address_.emplace(simt::function_address(i), function.get());
    }
  }
}

const Function* Module::kernel_at(uint64_t address) const {
  const auto found = by_address_.find(address);
  return found == by_address_.end() ? nullptr : found->second;
}

Result<kmb_global_info> Module::global(std::string_view name) {
  if (index_ && index_->has(name)) {
    const std::string variable(name);
    KM_TRY(place({&variable, 1}));
  }
  const std::lock_guard lock(mutex_);
  if (const kmb_global_info* info = variables_.find_visible(name)) return *info;
  std::vector<std::string_view> visible = variables_.visible_names();
  if (index_) visible = index_->variables();
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
    note_sampled(*module);
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
    note_sampled(*module);
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
