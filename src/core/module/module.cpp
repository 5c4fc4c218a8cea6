#include "core/module/module.h"

#include <cinttypes>
#include <new>

#include "base/assert.h"
#include "base/file/file_writer.h"
#include "base/text.h"
#include "compile/compile.h"
#include "core/kernel/launch_shape.h"
#include "core/module/source_file.h"
#include "core/object/backend_call.h"

namespace km {
namespace {

// The sizes are checked, so that a launch does not write beyond its buffers if the backend
// contradicts itself.
Status check_info(const kmb_function_info& info) {
  if (info.name == nullptr || (info.param_count != 0 && info.params == nullptr)) {
    return make_error(KM_ERROR_INTERNAL, "the backend's description of a kernel is invalid");
  }
  if (info.param_bytes > kMaxParamBytes) {
    return make_error(KM_ERROR_INVALID_PTX,
                      "kernel '%s' has parameters of %" PRIu64 " bytes; at most %" PRIu64
                      " are possible",
                      source_name(info.name).c_str(), info.param_bytes, kMaxParamBytes);
  }
  for (uint32_t i = 0; i < info.param_count; ++i) {
    const kmb_param& param = info.params[i];
    if (param.offset_bytes <= info.param_bytes &&
        param.size_bytes <= info.param_bytes - param.offset_bytes) {
      continue;
    }
    return make_error(KM_ERROR_INTERNAL, "parameter %u of kernel '%s' lies outside its arguments",
                      i, info.name);
  }
  return {};
}

Result<std::string> architecture_of(const Device& device) {
  const km_device_info& info = device.info();
  if (info.compute_capability_major == 0) return default_architecture();
  return architecture_for(
      static_cast<int>(info.compute_capability_major * 10 + info.compute_capability_minor));
}

Error no_objects(const Context& context) {
  return make_error(KM_ERROR_NOT_SUPPORTED, "backend '%s' has no compiled modules: load the PTX",
                    context.backend().name);
}

}  // namespace

Result<Ref<Module>> Module::load_ptx(Context& context, std::string_view ptx,
                                     const std::string& name) {
  Ref<Module> module = Ref<Module>::adopt(new Module(context, name));
  KM_TRY(call_backend(context.backend().module_load, context.native(), ptx.data(),
                      static_cast<uint64_t>(ptx.size()), module->name_.c_str(), &module->native_));
  KM_TRY(module->read_kernels(ptx));
  return module;
}

Result<Ref<Module>> Module::load_source(Context& context, std::string_view source,
                                        const std::string& name) {
  CompileInput input;
  input.source = source;
  input.name = name;
  KM_ASSIGN(input.architecture, architecture_of(context.device()));
  CompileOutput output;
  const uint64_t begin_ns = profile_time_ns();
  KM_TRY(compile_cuda(input, output));
  context.profiler().record_compilation(name, begin_ns);
  return load_ptx(context, output.ptx, name);
}

Result<Ref<Module>> Module::load_object(Context& context, std::string_view data,
                                        const std::string& name) {
  Ref<Module> module = Ref<Module>::adopt(new Module(context, name));
  if (context.backend().module_load_object == nullptr) return no_objects(context);
  KM_TRY(call_backend(context.backend().module_load_object, context.native(),
                      static_cast<const void*>(data.data()), static_cast<uint64_t>(data.size()),
                      module->name_.c_str(), &module->native_));
  KM_TRY(module->read_kernels(data));
  return module;
}

Status Module::save_object(const std::string& path,
                           std::span<const std::array<uint32_t, 3>> blocks) {
  if (backend().module_save_object == nullptr) return no_objects(context());
  for (const auto& block : blocks) {
    KM_TRY(check_shape(context().device(), {.grid = {1, 1, 1}, .block = block}));
  }
  struct Received {
    std::string content;
    bool complete = false;
  } received;
  auto receive = [](void* to, const void* data, uint64_t size_bytes) {
    auto* result = static_cast<Received*>(to);
    try {
      result->content.assign(static_cast<const char*>(data), size_bytes);
      result->complete = true;
    } catch (const std::bad_alloc&) {
      result->complete = false;  // exceptions cannot pass through the backend
    }
  };
  const uint32_t* numbers = blocks.empty() ? nullptr : blocks[0].data();
  KM_TRY(call_backend(
      backend().module_save_object, native_, numbers, static_cast<uint64_t>(blocks.size()),
      static_cast<void (*)(void*, const void*, uint64_t)>(receive), static_cast<void*>(&received)));
  if (!received.complete) throw std::bad_alloc();
  return write_file(path, received.content);
}

Result<Ref<Module>> Module::load_file(Context& context, const std::string& path) {
  KM_ASSIGN(const SourceFile file, read_source_file(path));
  if (file.is_object) {
    Result<Ref<Module>> module = load_object(context, file.text, file.name);
    const bool is_refused = !module && module.error().status == KM_ERROR_INVALID_ARGUMENT &&
                            module.error().native_code == 0;
    if (!is_refused || !file.is_image) return module;
    return make_error(KM_ERROR_NOT_SUPPORTED,
                      "'%s' is a compiled image, which device %s does not take (%s); load its PTX "
                      "or its source instead",
                      path.c_str(), context.device().info().uri, module.error().message.c_str());
  }
  return file.is_ptx ? load_ptx(context, file.text, file.name)
                     : load_source(context, file.text, file.name);
}

Module::~Module() {
  if (native_ == nullptr) return;
  const std::span<const kmb_use> uses = uses_.uses();
  backend().module_unload(native_, uses.data(), uses.size());
}

Status Module::read_kernels(std::string_view text) {
  signature_lines_ = read_signature_lines(text);
  parameter_names_ = read_parameter_names(text);
  uint32_t count = 0;
  KM_TRY(call_backend(backend().module_function_count, native_, &count));
  kernels_.resize(count);
  for (uint32_t i = 0; i < count; ++i) {
    Kernel& kernel = kernels_[i];
    KM_TRY(call_backend(backend().module_function_at, native_, i, &kernel.native));
    KM_ASSERT(kernel.native != nullptr, "a backend that succeeds gives each kernel");
    const auto deferred = backend().function_deferred_name;
    const char* const name = deferred == nullptr ? nullptr : deferred(kernel.native);
    if (name == nullptr) KM_TRY(describe(kernel));
    kernel.name = name == nullptr ? kernel.info.name : name;
    index_by_name_.emplace(kernel.name, i);
  }
  return {};
}

/// Finds what the backend and the text tell of a kernel, if that is not known yet.
Status Module::describe(Kernel& kernel) const {
  const std::lock_guard lock(kernel.mutex);
  if (kernel.types != nullptr) return {};
  KM_TRY(call_backend(backend().function_info, kernel.native, &kernel.info));
  KM_TRY(check_info(kernel.info));
  kernel.types = std::make_unique<KernelTypes>(kernel.info, instance_name(kernel.info.name),
                                               parameter_names(kernel.info.name));
  kernel.is_refused = kernel.info.refusal != nullptr;
  return {};
}

std::string_view Module::instance_name(std::string_view kernel) const {
  const auto found = signature_lines_.find(kernel);
  return found == signature_lines_.end() ? std::string_view() : found->second;
}

const std::vector<std::string>& Module::parameter_names(std::string_view kernel) const {
  static const std::vector<std::string> none;
  const auto found = parameter_names_.find(kernel);
  return found == parameter_names_.end() ? none : found->second;
}

void Module::add_aliases(const std::vector<std::pair<std::string, std::string>>& lowered_names) {
  for (const auto& [expression, lowered] : lowered_names) {
    const auto found = index_by_name_.find(lowered);
    if (found != index_by_name_.end()) index_by_name_.emplace(expression, found->second);
  }
}

Result<const Kernel*> Module::kernel(const std::string& name) const {
  const auto found = index_by_name_.find(name);
  if (found == index_by_name_.end()) return no_such_kernel(name);
  Kernel& kernel = kernels_[found->second];
  KM_TRY(describe(kernel));
  if (kernel.is_refused) return Error{KM_ERROR_UNSUPPORTED_PTX, kernel.info.refusal};
  return &kernel;
}

Error Module::no_such_kernel(const std::string& name) const {
  constexpr size_t kShown = 8;
  std::string text = "no kernel '" + name + "' in module '" + name_ + "'";
  const std::string on_templates =
      "of a template it has the instances that km_program_add_name_expression names before the "
      "source is compiled";
  if (kernels_.empty()) return {KM_ERROR_NOT_FOUND, text + ", which has none: " + on_templates};
  std::vector<std::string> names;
  for (const Kernel& kernel : kernels_) names.emplace_back(kernel.name);
  text += ".";
  if (const std::optional<size_t> near = nearest_kernel(name, names)) {
    const std::string source = source_name(names[*near]);
    text += " Did you mean '" + names[*near];
    text += source == names[*near] ? "'?" : "', which is '" + source + "' in the source?";
  }
  text += " It has ";
  bool is_mangled = false;
  for (size_t i = 0; i < names.size(); ++i) {
    is_mangled |= source_name(names[i]) != names[i];
    if (i < kShown) text += (i == 0 ? "'" : ", '") + names[i] + "'";
  }
  if (kernels_.size() > kShown)
    text += " and " + std::to_string(kernels_.size() - kShown) + " more";
  if (is_mangled) text += " (kernels of C++ have mangled names unless they are extern \"C\")";
  if (name.find('<') != std::string::npos) text += "; " + on_templates;
  return {KM_ERROR_NOT_FOUND, text + "."};
}

/// The caller must hold globals_mutex().
AccessList& Module::order_variables() {
  KM_ASSERT(!variables_are_known_ || variables() != nullptr,
            "variables that are known are ordered");
  if (variables_are_known_) return own_variables_;
  const std::lock_guard lock(own_variables_.lock());
  // Launches that are recorded in uses_ after this store see the list (note_launch).
  variables_.store(&own_variables_, std::memory_order_release);
  std::vector<kmb_use> uses;
  std::vector<Ref<Stream>> streams;
  uses_.copy_to(&uses, &streams);
  own_variables_.make_room(0, uses.size());
  for (size_t i = 0; i < uses.size(); ++i) {
    own_variables_.note(*streams[i], kAllVariables, uses[i].ticket);
  }
  variables_are_known_ = true;
  return own_variables_;
}

/// Called if the module got its access list while the kernel was being queued.
void Module::note_late_launch(Stream& stream, uint64_t ticket) noexcept {
  try {
    const std::lock_guard lock(own_variables_.lock());
    own_variables_.make_room(stream.number(), 1);
    own_variables_.note(stream, kAllVariables, ticket);
  } catch (const std::bad_alloc&) {
    static_cast<void>(stream.drain());
  }
}

Result<Ref<Memory>> Module::global(const std::string& name) {
  kmb_global_info info{};
  KM_TRY(call_backend(backend().module_global, native_, name.c_str(), &info));
  const std::lock_guard lock(globals_mutex_);
  AccessList* const accesses = context().is_ordered() ? &order_variables() : nullptr;
  return Memory::of_global({*this, uses_, accesses}, info);
}

Result<int64_t> Function::attribute(km_function_attribute attribute) const {
  int64_t value = 0;
  KM_TRY(call_backend(backend().function_attribute_get, native(), attribute, &value));
  return value;
}

Status Function::set_attribute(km_function_attribute attribute, int64_t value) {
  return call_backend(backend().function_attribute_set, native(), attribute, value);
}

Status Function::prepare(const std::array<uint32_t, 3>& block) {
  KM_TRY(check_shape(context().device(), {.grid = {1, 1, 1}, .block = block}));
  if (backend().function_prepare == nullptr) return {};
  return call_backend(backend().function_prepare, native(), block.data());
}

}  // namespace km
