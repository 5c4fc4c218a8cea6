#include "dropin/cuda/module/module.h"

#include "base/assert.h"
#include "dropin/cuda/frame/find_or_make.h"
#include "dropin/cuda/module/callback_kernels.h"
#include "dropin/cuda/texture/texture_reference.h"
#include "dropin/toolchain/device_runtime.h"
#include "dropin/toolchain/ptx_edits.h"
#include "dropin/toolchain/ptx_link.h"

namespace km::dropin {
namespace {

/// True if the text declares the function and leaves its body to others.
bool declares(std::string_view ptx, std::string_view name) {
  constexpr std::string_view kSpaces = " \t\r\n";
  for (size_t at = ptx.find(name); at != ptx.npos; at = ptx.find(name, at + 1)) {
    std::string_view before = ptx.substr(0, at);
    for (const std::string_view word : {".func", ".extern"}) {
      before = before.substr(0, before.find_last_not_of(kSpaces) + 1);
      if (!before.ends_with(word)) break;
      before.remove_suffix(word.size());
      if (word == ".extern") return true;
    }
  }
  return false;
}

/// Loads a text, with the function of conditional nodes if it calls that: NVIDIA's driver has it
/// itself, so modules need not link the device runtime for it.
Result<Ref<km::Module>> load_core(km::Context& context, const std::string& ptx) {
  constexpr char kName[] = "module";
  if (declares(ptx, "cudaGraphSetConditional")) {
    const std::string runtime(toolchain::device_runtime_ptx());
    const auto linked = toolchain::link_ptx({{kName, ptx}, {"driver", runtime}});
    if (linked) return km::Module::load_ptx(context, *linked, kName);
  }
  return km::Module::load_ptx(context, ptx, kName);
}

}  // namespace

CUresult Function::attribute(CUfunction_attribute attribute, int* out) const {
  const auto ask = [&](km_function_attribute own) -> CUresult {
    CU_ASSIGN(const int64_t value, core_->attribute(own));
    *out = static_cast<int>(value);
    return CUDA_SUCCESS;
  };
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return ask(KM_FUNCTION_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      return ask(KM_FUNCTION_ATTRIBUTE_SHARED_BYTES);
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
      return ask(KM_FUNCTION_ATTRIBUTE_CONSTANT_BYTES);
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      return ask(KM_FUNCTION_ATTRIBUTE_LOCAL_BYTES);
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      return ask(KM_FUNCTION_ATTRIBUTE_REGISTERS);
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      return ask(KM_FUNCTION_ATTRIBUTE_TARGET);
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return ask(KM_FUNCTION_ATTRIBUTE_MAX_DYNAMIC_SHARED_BYTES);
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      *out = carveout_;
      return CUDA_SUCCESS;
    default:
      if (attribute < 0 || attribute >= CU_FUNC_ATTRIBUTE_MAX) {
        return fail(CUDA_ERROR_INVALID_VALUE, "there is no function attribute %d", attribute);
      }
      *out = 0;
      return CUDA_SUCCESS;
  }
}

CUresult Function::set_attribute(CUfunction_attribute attribute, int value) {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      CU_CHECK(core_->set_attribute(KM_FUNCTION_ATTRIBUTE_MAX_DYNAMIC_SHARED_BYTES, value));
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      if (value < -1 || value > 100) {
        return fail(CUDA_ERROR_INVALID_VALUE, "the share of shared memory is %d percent", value);
      }
      carveout_ = value;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      return CUDA_SUCCESS;  // hints without effect here
    default:
      return fail(CUDA_ERROR_INVALID_VALUE, "function attribute %d cannot be set", attribute);
  }
}

CUresult Module::load(Context& context, const std::string& given, const JitLogs& logs,
                      Ref<Module>* out) {
  const std::string kernels = callback_kernels_for(given);
  const std::string joined = kernels.empty() ? "" : given.substr(0, given.find('\0')) + kernels;
  const std::string& ptx = kernels.empty() ? given : joined;
  auto loaded = load_core(*context.core(), ptx);
  logs.write("", loaded ? "" : loaded.error().message);
  if (!loaded) return result_of(loaded.error());
  Ref<Module> module =
      make_ref<Module>(context, std::move(*loaded), toolchain::managed_variables(ptx));
  CUmodule handle = nullptr;
  CU_TRY(publish_in(context, Ref<Module>(module), &handle));
  KM_ASSERT(handle == handle_of(*module), "a module knows its handle");
  note_references(module->id(), ptx);
  if (!kernels.empty()) note_callbacks(*module, ptx);
  *out = std::move(module);
  return CUDA_SUCCESS;
}

Module::~Module() {
  forget_references_of(id());
  forget_callbacks_of(id());
  for (const auto& [name, function] : functions_) retire<Function>(handle_of(*function));
  for (const auto& [name, memory] : globals_) Driver::instance().drop(memory->address(), *memory);
}

CUresult Module::function(const std::string& name, Ref<Function>* out) {
  const std::lock_guard lock(mutex_);
  Ref<Function>* known = nullptr;
  CU_TRY(find_or_make(functions_, name, &known, [&](Ref<Function>* made) -> CUresult {
    CU_ASSIGN(const km::Kernel* kernel, core_->kernel(name));
    *made = make_ref<Function>(*context_, core_, *kernel, id());
    publish(Ref<Function>(*made));
    return CUDA_SUCCESS;
  }));
  *out = *known;
  return CUDA_SUCCESS;
}

std::vector<std::string> Module::function_names() const {
  std::vector<std::string> names;
  for (const km::Kernel& kernel : core_->kernels()) {
    if (!kernel.is_refused && !is_callback_kernel(kernel.name)) names.emplace_back(kernel.name);
  }
  return names;
}

CUresult Module::global(const std::string& name, CUdeviceptr* out_address, size_t* out_bytes) {
  const std::lock_guard lock(mutex_);
  Ref<km::Memory>* known = nullptr;
  CU_TRY(find_or_make(globals_, name, &known, [&](Ref<km::Memory>* made) -> CUresult {
    CU_ASSIGN(*made, core_->global(name));
    tell_driver(name, *made);
    return CUDA_SUCCESS;
  }));
  if (out_address != nullptr) *out_address = (*known)->address();
  if (out_bytes != nullptr) *out_bytes = (*known)->size_bytes();
  return CUDA_SUCCESS;
}

void Module::tell_driver(const std::string& name, Ref<km::Memory> variable) const {
  if (variable->size_bytes() == 0) return;
  Allocation known;
  const uint64_t address = variable->address();
  known.size_bytes = variable->size_bytes();
  known.memory = std::move(variable);
  known.kind =
      managed_.contains(name) ? AllocationKind::kManagedVariable : AllocationKind::kVariable;
  known.device = context_->device().ordinal;
  known.context_id = context_->id();
  Driver::instance().add(address, std::move(known));
}

Library::~Library() {
  KM_ASSERT(!is_unloaded_ || modules_.empty(), "an unloaded library has no modules");
  // A library that never had a handle still has its modules here.
  const MayBlock may_block = MayBlock::at_end();
  for (const auto& [context, module] : modules_) retire<Module>(may_block, handle_of(*module));
  if (own_context_) own_context_->destroy(may_block);
}

void Library::unload(const MayBlock& may_block) {
  std::unordered_map<uint64_t, Ref<Module>> modules;
  std::map<std::string, Ref<Kernel>> kernels;
  {
    const std::lock_guard lock(mutex_);
    is_unloaded_ = true;
    modules.swap(modules_);
    kernels.swap(kernels_);
  }
  // Calls in progress keep their kernels alive, and kernels keep the library alive.
  for (const auto& [name, kernel] : kernels) retire<Kernel>(handle_of(*kernel));
  for (const auto& [context, module] : modules) retire<Module>(may_block, handle_of(*module));
}

void Library::handle_gone() {
  unload(MayBlock::at_end());
  Handled::handle_gone();
}

bool Library::is_managed(const std::string& name) const {
  return toolchain::managed_variables(ptx_).contains(name);
}

CUresult Library::module_in(Context& context, const JitLogs& logs, Ref<Module>* out) {
  const std::lock_guard lock(mutex_);
  if (is_unloaded_) return fail(CUDA_ERROR_INVALID_HANDLE, "the library is unloaded");
  CU_TRY(context.require_live());
  KM_ASSERT(context.id() != 0, "a live context has a handle");
  Ref<Module>* known = nullptr;
  CU_TRY(find_or_make(modules_, context.id(), &known,
                      [&](Ref<Module>* made) { return Module::load(context, ptx_, logs, made); }));
  *out = *known;
  return CUDA_SUCCESS;
}

CUresult Library::any_module(Ref<Module>* out) {
  Ref<Context> context;
  {
    const std::lock_guard lock(mutex_);
    if (!modules_.empty()) {
      *out = modules_.begin()->second;
      return CUDA_SUCCESS;
    }
    if (Context* current = current_context_or_null(); current && !current->is_destroyed()) {
      context = Ref<Context>::share(*current);
    } else {
      DeviceState& device = *Driver::instance().device(0);
      if (!own_context_) CU_TRY(Context::create(device, 0, false, &own_context_));
      context = own_context_;
    }
  }
  return module_in(*context, JitLogs(0, nullptr, nullptr), out);
}

CUresult Library::kernel(const std::string& name, Ref<Kernel>* out) {
  Ref<Module> module;
  CU_TRY(any_module(&module));
  CU_CHECK(module->core().kernel(name));
  const std::lock_guard lock(mutex_);
  if (is_unloaded_) return fail(CUDA_ERROR_INVALID_HANDLE, "the library is unloaded");
  Ref<Kernel>* known = nullptr;
  CU_TRY(find_or_make(kernels_, name, &known, [&](Ref<Kernel>* made) -> CUresult {
    *made = make_ref<Kernel>(*this, name);
    publish(Ref<Kernel>(*made));
    return CUDA_SUCCESS;
  }));
  *out = *known;
  return CUDA_SUCCESS;
}

void Library::forget(const Context& context) {
  Ref<Module> gone;
  const std::lock_guard lock(mutex_);
  const auto found = modules_.find(context.id());
  if (found == modules_.end()) return;
  gone = std::move(found->second);
  KM_ASSERT(&gone->context() == &context, "a module is listed under its context");
  modules_.erase(found);
  retire<Module>(MayBlock::at_end(), handle_of(*gone));
}

CUresult Kernel::function_in(Context& context, Ref<Function>* out) {
  Ref<Module> module;
  CU_TRY(library_->module_in(context, JitLogs(0, nullptr, nullptr), &module));
  return module->function(name_, out);
}

CUresult find_function(CUfunction handle, Ref<Function>* out) {
  if (const Pin<Function> function(handle); function) {
    *out = Ref<Function>::share(*function);
    return CUDA_SUCCESS;
  }
  const Pin<Kernel> kernel(reinterpret_cast<CUkernel>(handle));
  if (!kernel) return fail(CUDA_ERROR_INVALID_HANDLE, "the function is not a live handle");
  CU_CURRENT(context);
  return kernel->function_in(*context, out);
}

CUresult FunctionUse::get(CUfunction handle) {
  pin_ = Pin<Function>(handle);
  if (pin_) [[likely]] {
    function_ = pin_.get();
    return CUDA_SUCCESS;
  }
  CU_TRY(find_function(handle, &shared_));
  function_ = shared_.get();
  return CUDA_SUCCESS;
}

}  // namespace km::dropin
