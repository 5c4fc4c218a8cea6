#include "backends/cuda/module/module.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cinttypes>
#include <cstring>

#include "backends/cuda/driver/let_go.h"
#include "base/memory/host_allocator.h"
#include "base/text.h"

namespace km::cuda {
namespace {

constexpr size_t kLogBytes = 3072;  // size of the driver compiler's log in messages
constexpr uint16_t kElfCuda = 190;
constexpr uint32_t kFatbinMagic = 0xBA55ED50;

template <class T>
bool read_at(std::string_view data, uint64_t offset, T* out) {
  if (offset > data.size() || data.size() - offset < sizeof(T)) return false;
  std::memcpy(out, data.data() + offset, sizeof(T));
  return true;
}

/// Checks the sizes in an image, because the driver trusts them and would read beyond the data.
bool is_whole_cubin(std::string_view data) {
  Elf64_Ehdr header{};
  if (!read_at(data, 0, &header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return false;
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != kElfCuda) return false;
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section{};
    if (!read_at(data, header.e_shoff + i * sizeof section, &section)) return false;
    if (section.sh_type == SHT_NOBITS) continue;
    if (section.sh_offset > data.size() || section.sh_size > data.size() - section.sh_offset) {
      return false;
    }
  }
  const uint64_t programs = header.e_phoff + uint64_t{header.e_phnum} * sizeof(Elf64_Phdr);
  return header.e_shentsize == sizeof(Elf64_Shdr) && programs <= data.size();
}

bool is_whole_fatbin(std::string_view data) {
  struct Header {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t content_bytes;
  } header{};
  return read_at(data, 0, &header) && header.magic == kFatbinMagic &&
         header.header_bytes <= data.size() &&
         header.content_bytes <= data.size() - header.header_bytes;
}

/// Reads the parameters from the driver, which has no alignments; they are derived from sizes and
/// offsets.
Result<Signature> signature_from_driver(Epoch& epoch, cu::CUfunction function) {
  Signature signature;
  const char* name = nullptr;
  KM_TRY(epoch.check(driver().cuFuncGetName(&name, function)));
  signature.name = name;
  while (true) {
    size_t offset = 0, size = 0;
    const Called called =
        driver().cuFuncGetParamInfo(function, signature.params.size(), &offset, &size);
    if (called.result == cu::CUDA_ERROR_INVALID_VALUE) return signature;  // no further parameter
    KM_TRY(epoch.check(called));
    const auto kind = size == sizeof(uint64_t) ? KM_PARAM_KIND_UNKNOWN : KM_PARAM_KIND_VALUE;
    const int steps = std::min({std::countr_zero(size), std::countr_zero(offset), 4});
    signature.params.push_back({kind, 1u << steps, size, offset, KM_PARAM_TYPE_UNKNOWN, 0});
    signature.param_bytes = offset + size;
  }
}

}  // namespace

Function::Function(Epoch& epoch, cu::CUfunction handle, Signature signature)
    : epoch_(epoch), handle_(handle), signature_(std::move(signature)) {
  info_.name = signature_.name.c_str();
  info_.param_count = static_cast<uint32_t>(signature_.params.size());
  info_.params = signature_.params.data();
  info_.param_bytes = signature_.param_bytes;
}

Module::~Module() {
  const Alive alive(*epoch_);
  if (handle_ == nullptr || !alive) return;
  const Current current(*epoch_);
  check_destroyed(driver().cuModuleUnload(handle_));
}

Error Module::explain(Called called, const char* log) const {
  if (called.result == cu::CUDA_ERROR_UNSUPPORTED_PTX_VERSION) {
    return {KM_ERROR_UNSUPPORTED_PTX,
            name_ + " is PTX " + version_in(ptx_) + ", but the NVIDIA driver here is for CUDA " +
                version_text(driver_version()) + " and understands PTX up to " +
                newest_ptx(driver_version()) +
                ": install a newer driver, or compile with an older CUDA toolkit (KM_NVRTC)",
            called.result};
  }
  Error error = driver_error(called);
  const bool is_wrong_text = error.status == KM_ERROR_INVALID_PTX && !ptx_.empty();
  const Result<std::vector<Signature>> parsed =
      is_wrong_text ? signatures_in(ptx_, name_)
                    : Result<std::vector<Signature>>(std::vector<Signature>());
  // The parser's own message has line and column.
  error.message = (parsed ? name_ : parsed.error().message) + ": " + error.message;
  if (*log != '\0') error.message += std::string("\n") + log;
  return error;
}

Status Module::load(const void* image) {
  std::array<char, kLogBytes> log{};
  cu::CUjit_option options[] = {cu::CU_JIT_ERROR_LOG_BUFFER,
                                cu::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size() - 1)};
  const Called called = driver().cuModuleLoadDataEx(&handle_, image, 2, options, values);
  if (called.ok()) return {};
  handle_ = nullptr;
  if (is_fatal(called.result)) return epoch_->check(called);
  return explain(called, log.data());
}

Status Module::load_ptx(std::string_view ptx) {
  ptx_ = ptx;
  KM_TRY(load(ptx_.c_str()));
  Result<std::vector<Signature>> signatures = signatures_in(ptx_, name_);
  // The driver may accept PTX that the parser does not know yet.
  return signatures ? find_listed(std::move(*signatures)) : find_functions();
}

Status Module::load_object(std::string_view data) {
  if (!is_whole_cubin(data) && !is_whole_fatbin(data)) {
    return make_error(KM_ERROR_INVALID_ARGUMENT,
                      "%s is neither a whole cubin nor a whole fatbin, which is what NVIDIA GPUs "
                      "take; files of other devices are for those only",
                      name_.c_str());
  }
  KM_TRY(load(data.data()));
  return find_functions();
}

Status Module::find_listed(std::vector<Signature> signatures) {
  for (Signature& signature : signatures) {
    cu::CUfunction function = nullptr;
    KM_TRY(epoch_->check(driver().cuModuleGetFunction(&function, handle_, signature.name.c_str())));
    KM_TRY(load_now(*epoch_, function));
    functions_.push_back(std::make_unique<Function>(*epoch_, function, std::move(signature)));
  }
  return {};
}

Status Module::find_functions() {
  unsigned count = 0;
  KM_TRY(epoch_->check(driver().cuModuleGetFunctionCount(&count, handle_)));
  std::vector<cu::CUfunction> functions(count);
  if (count == 0) return {};
  KM_TRY(epoch_->check(driver().cuModuleEnumerateFunctions(functions.data(), count, handle_)));
  for (cu::CUfunction function : functions) {
    KM_TRY(load_now(*epoch_, function));
    KM_ASSIGN(Signature signature, signature_from_driver(*epoch_, function));
    functions_.push_back(std::make_unique<Function>(*epoch_, function, std::move(signature)));
  }
  return {};
}

Result<std::string> Module::make_cubin() const {
  if (ptx_.empty()) {
    return make_error(KM_ERROR_NOT_SUPPORTED, "%s was loaded from an object file: copy that file",
                      name_.c_str());
  }
  cu::CUlinkState link = nullptr;
  KM_TRY(epoch_->check(driver().cuLinkCreate_v2(0, nullptr, nullptr, &link)));
  std::string text = ptx_;  // the driver takes a writable pointer
  void* data = nullptr;
  size_t size = 0;
  Status made =
      epoch_->check(driver().cuLinkAddData_v2(link, cu::CU_JIT_INPUT_PTX, text.data(),
                                              text.size() + 1, name_.c_str(), 0, nullptr, nullptr));
  if (made) made = epoch_->check(driver().cuLinkComplete(link, &data, &size));
  std::string cubin = made ? std::string(static_cast<const char*>(data), size) : std::string();
  check_destroyed(driver().cuLinkDestroy(link));  // the link state owns the data
  if (!made) return std::move(made.error());
  return cubin;
}

Result<kmb_global_info> Module::global(const char* name) const {
  cu::CUdeviceptr address = 0;
  size_t size = 0;
  const Called called = driver().cuModuleGetGlobal_v2(&address, &size, handle_, name);
  if (called.result == cu::CUDA_ERROR_NOT_FOUND) {
    Error error = make_error(KM_ERROR_NOT_FOUND, "module '%s' has no visible variable '%s'",
                             name_.c_str(), name);
    error.native_code = called.result;
    return error;
  }
  KM_TRY(epoch_->check(called));
  const VariableForm form = variable_in(ptx_, name);
  const bool is_whole = size % form.element_size_bytes == 0;
  return kmb_global_info{address, nullptr, size, is_whole ? form.element_size_bytes : 1u,
                         form.is_constant};
}

namespace {

template <class Load>
km_status load_module(kmb_context* context, const char* name, const char* default_name,
                      kmb_module** out_module, kmb_error* error, Load load) {
  return guarded(error, [&]() -> Status {
    KM_ASSIGN(const std::shared_ptr<Epoch> epoch, live_epoch(context));
    const Current current(*epoch);
    KM_TRY(require_current(*epoch, current));
    auto module = std::make_unique<Module>(epoch, name != nullptr ? name : default_name);
    KM_TRY(load(*module));
    *out_module = to(module.release());
    return {};
  });
}

}  // namespace

km_status module_load(kmb_context* context, const char* ptx, uint64_t ptx_size_bytes,
                      const char* name, kmb_module** out_module, kmb_error* error) {
  return load_module(context, name, "module.ptx", out_module, error, [&](Module& module) {
    return module.load_ptx(std::string_view(ptx, ptx_size_bytes));
  });
}

km_status module_load_object(kmb_context* context, const void* data, uint64_t size_bytes,
                             const char* name, kmb_module** out_module, kmb_error* error) {
  return load_module(context, name, "module.cubin", out_module, error, [&](Module& module) {
    return module.load_object(std::string_view(static_cast<const char*>(data), size_bytes));
  });
}

km_status module_save_object(kmb_module* handle, const uint32_t*, uint64_t,
                             void (*receive)(void* user_data, const void* data,
                                             uint64_t size_bytes),
                             void* user_data, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    const Module& module = *from(handle);
    KM_TRY(module.epoch().require_alive());
    const Current current(module.epoch());
    KM_TRY(require_current(module.epoch(), current));
    KM_ASSIGN(const std::string cubin, module.make_cubin());
    receive(user_data, cubin.data(), cubin.size());
    return {};
  });
}

void module_unload(kmb_module* handle, const kmb_use* uses, uint64_t use_count) {
  const HostMemoryNeeded needed;  // the caller cannot handle a lack of memory
  std::shared_ptr<Module> module = share(std::unique_ptr<Module>(from(handle)));
  when_over(std::span(uses, use_count), [module]() mutable { module.reset(); });
}

km_status module_function_count(kmb_module* module, uint32_t* out_count, kmb_error*) {
  *out_count = static_cast<uint32_t>(from(module)->functions().size());
  return KM_SUCCESS;
}

km_status module_function_at(kmb_module* handle, uint32_t index, kmb_function** out_function,
                             kmb_error* error) {
  return guarded(error, [&]() -> Status {
    const Module& module = *from(handle);
    if (index >= module.functions().size()) {
      return make_error(KM_ERROR_NOT_FOUND, "module '%s' has %s: there is no index %u",
                        module.name().c_str(), counted(module.functions().size(), "kernel").c_str(),
                        index);
    }
    *out_function = to(module.functions()[index].get());
    return {};
  });
}

km_status module_global(kmb_module* handle, const char* name, kmb_global_info* out_info,
                        kmb_error* error) {
  return guarded(error, [&]() -> Status {
    const Module& module = *from(handle);
    KM_TRY(module.epoch().require_alive());
    const Current current(module.epoch());
    KM_TRY(require_current(module.epoch(), current));
    KM_ASSIGN(*out_info, module.global(name));
    return {};
  });
}

}  // namespace km::cuda
