// Modules that know the kernels of tests/c/support/testing.c by name, and launches.
#include <elf.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "fake_cuda/queue.h"
#include "ptx/ptx.h"

namespace km::cu {

struct Kernel {
  std::string name;
  struct Param {
    size_t offset, size;
  };
  std::vector<Param> params;
  size_t param_bytes = 0;
  int max_dynamic_shared_bytes = 48 << 10;
  bool is_loaded = false;
};

struct Module {
  std::vector<std::unique_ptr<Kernel>> kernels;
  struct Variable {
    std::string name;
    std::vector<char> data;
  };
  std::vector<Variable> variables;
};

namespace {

std::unique_ptr<Kernel> read_kernel(const ptx::Function& function) {
  auto kernel = std::make_unique<Kernel>();
  kernel->name = function.name;
  for (const ptx::SymbolId id : function.params) {
    const ptx::Symbol& symbol = function.symbols[id];
    const size_t align = std::max<size_t>(symbol.align_bytes, 1);
    const size_t offset = (kernel->param_bytes + align - 1) / align * align;
    kernel->params.push_back({offset, symbol.size_bytes});
    kernel->param_bytes = offset + symbol.size_bytes;
  }
  return kernel;
}

// The fake's object code: an empty ELF file, and the PTX after it.
std::string make_cubin(const std::string& ptx) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_machine = 190;
  header.e_shentsize = sizeof(Elf64_Shdr);
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + ptx;
}

std::string ptx_of_image(const void* image) {
  const char* text = static_cast<const char*>(image);
  return std::memcmp(text, ELFMAG, SELFMAG) == 0 ? text + sizeof(Elf64_Ehdr) : text;
}

template <class T>
T argument(const Kernel& kernel, const Launch& launch, size_t index) {
  T value;
  std::memcpy(&value, launch.arguments.data() + kernel.params[index].offset, sizeof value);
  return value;
}

Kernel* kernel_of(CUfunction function) { return reinterpret_cast<Kernel*>(function); }

int attribute_of(const Kernel& kernel, CUfunction_attribute attribute) {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return 1024;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      return 16;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      return 70;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return kernel.max_dynamic_shared_bytes;
    default:
      return 0;
  }
}

CUresult fill_index(const Kernel& kernel, const Launch& launch) {
  const auto out = argument<uint64_t>(kernel, launch, 0);
  const auto base = argument<uint32_t>(kernel, launch, 1);
  const auto n = argument<uint32_t>(kernel, launch, 2);
  if (n == 0) return CUDA_SUCCESS;
  if (check_device_range(out, uint64_t{n} * 4) != CUDA_SUCCESS) return CUDA_ERROR_ILLEGAL_ADDRESS;
  for (uint32_t i = 0; i < n; ++i) reinterpret_cast<uint32_t*>(out)[i] = base + i;
  return CUDA_SUCCESS;
}

CUresult scale(const Kernel& kernel, const Launch& launch) {
  const auto data = argument<uint64_t>(kernel, launch, 0);
  const auto factor = argument<float>(kernel, launch, 1);
  const auto n = argument<uint32_t>(kernel, launch, 2);
  if (n == 0) return CUDA_SUCCESS;
  if (check_device_range(data, uint64_t{n} * 4) != CUDA_SUCCESS) return CUDA_ERROR_ILLEGAL_ADDRESS;
  for (uint32_t i = 0; i < n; ++i) reinterpret_cast<float*>(data)[i] *= factor;
  return CUDA_SUCCESS;
}

// The kernel of the cuda backend that counts on from an index of cuBLAS's.
CUresult convert_index(const Kernel& kernel, const Launch& launch) {
  const auto place = argument<uint64_t>(kernel, launch, 0);
  if (check_device_range(place, 8) != CUDA_SUCCESS) return CUDA_ERROR_ILLEGAL_ADDRESS;
  uint32_t from_one = 0;
  std::memcpy(&from_one, reinterpret_cast<void*>(place), sizeof from_one);
  const uint64_t from_zero = uint64_t{from_one} - 1;
  std::memcpy(reinterpret_cast<void*>(place), &from_zero, sizeof from_zero);
  return CUDA_SUCCESS;
}

Module* find_module(CUmodule handle) {
  Object* object = find_object("module", handle);
  return object != nullptr ? static_cast<Module*>(object->data.get()) : nullptr;
}

void write_log(const std::string& text, unsigned count, CUjit_option* options, void** values) {
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] != CU_JIT_ERROR_LOG_BUFFER) continue;
    const std::string cut = text.substr(0, 1000);
    std::memcpy(values[i], cut.c_str(), cut.size() + 1);
  }
}

}  // namespace

std::shared_ptr<Module> load_module(const std::string& text, std::string* out_log) {
  const Result<std::shared_ptr<const ptx::Module>> parsed = ptx::parse(text, "ptxas");
  if (!parsed) {
    *out_log = parsed.error().message;
    return nullptr;
  }
  auto module = std::make_shared<Module>();
  for (const ptx::Function& function : (*parsed)->functions) {
    if (function.is_entry) module->kernels.push_back(read_kernel(function));
  }
  for (const ptx::Symbol& symbol : (*parsed)->symbols) {
    if (symbol.is_function) continue;
    std::vector<char> data(symbol.size_bytes);
    std::copy(symbol.data.begin(), symbol.data.end(), data.begin());
    module->variables.push_back({symbol.name, std::move(data)});
  }
  return module;
}

CUresult read_launch(CUfunction function, void** extra, Launch* out_launch) {
  out_launch->function = function;
  const Kernel& kernel = *kernel_of(function);
  if (kernel.param_bytes == 0) return CUDA_SUCCESS;
  if (extra == nullptr || extra[0] != reinterpret_cast<void*>(1) ||
      extra[2] != reinterpret_cast<void*>(2) || extra[4] != nullptr ||
      *static_cast<size_t*>(extra[3]) != kernel.param_bytes) {
    return misuse(CUDA_ERROR_INVALID_VALUE, "arguments");
  }
  const char* bytes = static_cast<const char*>(extra[1]);
  out_launch->arguments.assign(bytes, bytes + kernel.param_bytes);
  return CUDA_SUCCESS;
}

CUresult run_launch(Context& context, const Launch& launch) {
  const Kernel& kernel = *kernel_of(launch.function);
  CUresult result = CUDA_SUCCESS;
  if (kernel.name == "crash") result = CUDA_ERROR_LAUNCH_FAILED;
  if (kernel.name == "fill_index") result = fill_index(kernel, launch);
  if (kernel.name == "scale") result = scale(kernel, launch);
  if (kernel.name == "km_blas_index") result = convert_index(kernel, launch);
  if (result != CUDA_SUCCESS) set_sticky(context, result);
  return CUDA_SUCCESS;  // a kernel's failure shows in later calls
}

Work work_of(const Launch& launch) {
  const Kernel& kernel = *kernel_of(launch.function);
  if (kernel.name != "km_memory_op") {
    return {.run = [launch](Context& context) { return run_launch(context, launch); }};
  }
  constexpr unsigned kConditions[] = {CU_STREAM_WAIT_VALUE_GEQ, CU_STREAM_WAIT_VALUE_EQ,
                                      CU_STREAM_WAIT_VALUE_AND, CU_STREAM_WAIT_VALUE_NOR};
  const auto kind = argument<uint32_t>(kernel, launch, 2);
  const bool is_wide = argument<uint32_t>(kernel, launch, 3) == 8;
  CUstreamBatchMemOpParams op{};
  op.memory.address = argument<uint64_t>(kernel, launch, 0);
  op.memory.value = argument<uint64_t>(kernel, launch, 1);
  if (kind == 1) {
    op.memory.operation =
        is_wide ? CU_STREAM_MEM_OP_WRITE_VALUE_64 : CU_STREAM_MEM_OP_WRITE_VALUE_32;
  } else {
    op.memory.operation = is_wide ? CU_STREAM_MEM_OP_WAIT_VALUE_64 : CU_STREAM_MEM_OP_WAIT_VALUE_32;
    op.memory.flags = kConditions[kind - 2];
  }
  return {.run = [op](Context&) -> CUresult {
            do_memory_ops({op});
            return CUDA_SUCCESS;
          },
          .is_mark = true};
}

void load_before_launch(const Call& call, CUfunction function) {
  Kernel& kernel = *kernel_of(function);
  if (std::exchange(kernel.is_loaded, true)) return;
  const Call::Unlocked unlocked;
  wait_for_device(call.context().device);
}

extern "C" {

CUresult cuFuncLoad(CUfunction function) {
  KM_FAKE_CALL(context);
  load_before_launch(call, function);
  return CUDA_SUCCESS;
}

CUresult cuModuleLoadDataEx(CUmodule* out, const void* image, unsigned int count,
                            CUjit_option* options, void** values) {
  KM_FAKE_CALL(context);
  const std::string text = ptx_of_image(image);
  std::string log;
  if (text.find(".version 99.") != std::string::npos) return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
  const std::shared_ptr<Module> module = load_module(text, &log);
  if (!module) {
    write_log(log, count, options, values);
    return CUDA_ERROR_INVALID_PTX;
  }
  *out = static_cast<CUmodule>(add_object("module", call.context().device, module));
  for (Module::Variable& variable : module->variables) {
    add_object_at(reinterpret_cast<uint64_t>(variable.data.data()),
                  {"variable", call.context().device, variable.data.size(), nullptr});
  }
  return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule handle) {
  const Call call(__func__, Call::Needs::context);
  Module* module = find_module(handle);
  if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  for (const Module::Variable& variable : module->variables) {
    remove_object("variable", variable.data.data());
  }
  remove_object("module", handle);
  return call.result();
}

CUresult cuModuleGetFunction(CUfunction* out, CUmodule handle, const char* name) {
  KM_FAKE_CALL(context);
  const Module* module = find_module(handle);
  if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  for (const auto& kernel : module->kernels) {
    if (kernel->name != name) continue;
    *out = reinterpret_cast<CUfunction>(kernel.get());
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_NOT_FOUND;
}

CUresult cuModuleGetFunctionCount(unsigned int* out, CUmodule handle) {
  KM_FAKE_CALL(context);
  const Module* module = find_module(handle);
  if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  *out = static_cast<unsigned>(module->kernels.size());
  return CUDA_SUCCESS;
}

CUresult cuModuleEnumerateFunctions(CUfunction* out, unsigned int count, CUmodule handle) {
  KM_FAKE_CALL(context);
  const Module* module = find_module(handle);
  if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  for (unsigned i = 0; i < std::min<size_t>(count, module->kernels.size()); ++i) {
    out[i] = reinterpret_cast<CUfunction>(module->kernels[i].get());
  }
  return CUDA_SUCCESS;
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr* out, size_t* size, CUmodule handle, const char* name) {
  KM_FAKE_CALL(context);
  Module* module = find_module(handle);
  if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  for (Module::Variable& variable : module->variables) {
    if (variable.name != name) continue;
    *out = reinterpret_cast<uint64_t>(variable.data.data());
    *size = variable.data.size();
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_NOT_FOUND;
}

CUresult cuFuncGetName(const char** out, CUfunction function) {
  KM_FAKE_CALL(context);
  *out = kernel_of(function)->name.c_str();
  return CUDA_SUCCESS;
}

CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t* offset, size_t* size) {
  KM_FAKE_CALL(context);
  const Kernel& kernel = *kernel_of(function);
  if (index >= kernel.params.size()) return CUDA_ERROR_INVALID_VALUE;
  *offset = kernel.params[index].offset;
  *size = kernel.params[index].size;
  return CUDA_SUCCESS;
}

CUresult cuFuncGetAttribute(int* out, CUfunction_attribute attribute, CUfunction function) {
  KM_FAKE_CALL(context);
  *out = attribute_of(*kernel_of(function), attribute);
  return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute, int value) {
  KM_FAKE_CALL(context);
  if (value > 227 << 10) return CUDA_ERROR_INVALID_VALUE;
  kernel_of(function)->max_dynamic_shared_bytes = value;
  return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned int, unsigned int, unsigned int, unsigned int,
                        unsigned int, unsigned int, unsigned int shared_bytes, CUstream stream,
                        void**, void** extra) {
  KM_FAKE_CALL(context);
  KM_FAKE_QUEUE(stream);
  if (static_cast<int>(shared_bytes) > kernel_of(function)->max_dynamic_shared_bytes) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  Launch launch;
  if (const CUresult bad = read_launch(function, extra, &launch)) return bad;
  load_before_launch(call, function);
  return queue->submit(work_of(launch));
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void**, void** extra) {
  KM_FAKE_CALL(context);
  KM_FAKE_QUEUE(config->hStream);
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const CUlaunchAttribute& attribute = config->attrs[i];
    const auto& size = attribute.value.clusterDim;
    const bool is_cluster = attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    if (is_cluster && size.x * size.y * size.z > 8) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  }
  Launch launch;
  if (const CUresult bad = read_launch(function, extra, &launch)) return bad;
  load_before_launch(call, function);
  return queue->submit(work_of(launch));
}

CUresult cuLinkCreate_v2(unsigned int, CUjit_option*, void**, CUlinkState* out) {
  KM_FAKE_CALL(context);
  *out = static_cast<CUlinkState>(
      add_object("link", call.context().device, std::make_shared<std::string>()));
  return CUDA_SUCCESS;
}

CUresult cuLinkAddData_v2(CUlinkState link, CUjitInputType, void* data, size_t, const char*,
                          unsigned int, CUjit_option*, void**) {
  KM_FAKE_CALL(context);
  Object* object = find_object("link", link);
  if (object == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  *static_cast<std::string*>(object->data.get()) = make_cubin(static_cast<const char*>(data));
  return CUDA_SUCCESS;
}

CUresult cuLinkComplete(CUlinkState link, void** data, size_t* size) {
  KM_FAKE_CALL(context);
  Object* object = find_object("link", link);
  if (object == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  auto* cubin = static_cast<std::string*>(object->data.get());
  *data = cubin->data();
  *size = cubin->size() + 1;  // with the zero that ends the PTX
  return CUDA_SUCCESS;
}

CUresult cuLinkDestroy(CUlinkState link) {
  const Call call(__func__, Call::Needs::context);
  return remove_object("link", link) ? call.result() : CUDA_ERROR_INVALID_HANDLE;
}
}

}  // namespace km::cu
