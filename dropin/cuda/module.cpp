#include "dropin/cuda/module.h"

namespace km::dropin {

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
      return CUDA_SUCCESS;  // a hint
    default:
      return fail(CUDA_ERROR_INVALID_VALUE, "function attribute %d cannot be set", attribute);
  }
}

CUresult Module::load(Context& context, const std::string& ptx, const JitLogs& logs,
                      Ref<Module>* out) {
  auto loaded = km::Module::load_ptx(context.core(), ptx, "module");
  logs.write("", loaded ? "" : loaded.error().message);
  if (!loaded) return result_of(loaded.error());
  *out = make_ref<Module>(context, std::move(*loaded));
  publish(Ref<Module>(*out));
  return CUDA_SUCCESS;
}

Module::~Module() {
  for (const auto& [name, function] : functions_) retire<Function>(handle_of(*function));
}

CUresult Module::function(const std::string& name, Ref<Function>* out) {
  const std::lock_guard lock(mutex_);
  Ref<Function>& known = functions_[name];
  if (!known) {
    const auto kernel = core_->kernel(name);
    if (!kernel) {
      functions_.erase(name);
      return result_of(kernel.error());
    }
    known = make_ref<Function>(*context_, core_, **kernel, id());
    publish(Ref<Function>(known));
  }
  *out = known;
  return CUDA_SUCCESS;
}

std::vector<std::string> Module::function_names() const {
  std::vector<std::string> names;
  for (const km::Kernel& kernel : core_->kernels()) {
    if (kernel.info.refusal == nullptr) names.emplace_back(kernel.info.name);
  }
  return names;
}

CUresult Module::global(const std::string& name, CUdeviceptr* out_address, size_t* out_bytes) {
  const std::lock_guard lock(mutex_);
  Ref<km::Memory>& known = globals_[name];
  if (!known) {
    auto found = core_->global(name);
    if (!found) {
      globals_.erase(name);
      return result_of(found.error());
    }
    known = std::move(*found);
  }
  if (out_address != nullptr) *out_address = known->address();
  if (out_bytes != nullptr) *out_bytes = known->size_bytes();
  return CUDA_SUCCESS;
}

Library::~Library() {
  for (const auto& [name, kernel] : kernels_) retire<Kernel>(handle_of(*kernel));
  for (const auto& [context, module] : modules_) retire<Module>(handle_of(*module));
  if (own_context_) own_context_->destroy();
}

CUresult Library::module_in(Context& context, const JitLogs& logs, Ref<Module>* out) {
  const std::lock_guard lock(mutex_);
  Ref<Module>& known = modules_[context.id()];
  if (!known) {
    const CUresult loaded = Module::load(context, ptx_, logs, &known);
    if (loaded != CUDA_SUCCESS) {
      modules_.erase(context.id());
      return loaded;
    }
  }
  *out = known;
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
  Ref<Kernel>& known = kernels_[name];
  if (!known) {
    known = make_ref<Kernel>(*this, name);
    publish(Ref<Kernel>(known));
  }
  *out = known;
  return CUDA_SUCCESS;
}

void Library::forget(const Context& context) {
  Ref<Module> gone;
  const std::lock_guard lock(mutex_);
  const auto found = modules_.find(context.id());
  if (found == modules_.end()) return;
  gone = std::move(found->second);
  modules_.erase(found);
}

CUresult Kernel::function_in(Context& context, Ref<Function>* out) {
  Ref<Module> module;
  CU_TRY(library_.module_in(context, JitLogs(0, nullptr, nullptr), &module));
  return module->function(name_, out);
}

CUresult find_function(CUfunction handle, Ref<Function>* out) {
  if (const Pin<Function> function(handle); function) {
    *out = Ref<Function>::share(*function);
    return CUDA_SUCCESS;
  }
  const Pin<Kernel> kernel(reinterpret_cast<CUkernel>(handle));
  if (!kernel) return fail(CUDA_ERROR_INVALID_HANDLE, "the function is no live handle");
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
