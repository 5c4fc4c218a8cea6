#include "core/module/program.h"

#include "core/profiler/trace_at_exit.h"

namespace km {

Program::Program(std::string_view source, std::string_view name) {
  input_.source = source;
  input_.name = name;
}

void Program::add_option(const std::string& option) {
  const std::lock_guard lock(mutex_);
  input_.options.push_back(option);
}

Status Program::add_header(const std::string& name, std::string_view source) {
  constexpr size_t kMaxNameBytes = 4095;
  if (name.empty() || name.size() > kMaxNameBytes) {
    return make_error(KM_ERROR_INVALID_ARGUMENT,
                      "the name of the header has %zu bytes; it can have 1 to %zu", name.size(),
                      kMaxNameBytes);
  }
  const std::lock_guard lock(mutex_);
  for (const CompileHeader& header : input_.headers) {
    if (header.name != name) continue;
    return make_error(KM_ERROR_INVALID_ARGUMENT, "a header '%s' was added before", name.c_str());
  }
  input_.headers.push_back({name, std::string(source)});
  return {};
}

void Program::add_name_expression(const std::string& expression) {
  const std::lock_guard lock(mutex_);
  input_.name_expressions.push_back(expression);
}

Status Program::compile() {
  CompileInput input;
  {
    const std::lock_guard lock(mutex_);
    input = input_;
  }
  // No lock is held, because compiling takes long and another thread may read the last log
  // meanwhile.
  CompileOutput output;
  const uint64_t begin_ns = profile_time_ns();
  Status status = compile_cuda(input, output);
  if (is_tracing()) trace_compilation(input.name, begin_ns);
  const std::lock_guard lock(mutex_);
  output_ = std::move(output);
  is_compiled_ = static_cast<bool>(status);
  return status;
}

std::string Program::log() const {
  const std::lock_guard lock(mutex_);
  return output_.log;
}

Status Program::require_compiled() const {
  if (is_compiled_) return {};
  return make_error(
      KM_ERROR_NOT_FOUND,
      "program '%s' has not been compiled with success; call km_program_compile first",
      input_.name.c_str());
}

Result<std::string> Program::ptx() const {
  const std::lock_guard lock(mutex_);
  KM_TRY(require_compiled());
  return output_.ptx;
}

Result<std::string> Program::lowered_name(const std::string& expression) const {
  const std::lock_guard lock(mutex_);
  KM_TRY(require_compiled());
  for (const auto& [asked, lowered] : output_.lowered_names) {
    if (asked == expression) return lowered;
  }
  return make_error(KM_ERROR_NOT_FOUND,
                    "'%s' was not added with km_program_add_name_expression before the last "
                    "km_program_compile",
                    expression.c_str());
}

Result<Ref<Module>> Program::load(Context& context) const {
  std::string ptx;
  std::string name;
  std::vector<std::pair<std::string, std::string>> lowered_names;
  {
    const std::lock_guard lock(mutex_);
    KM_TRY(require_compiled());
    ptx = output_.ptx;
    name = input_.name;
    lowered_names = output_.lowered_names;
  }
  KM_ASSIGN(Ref<Module> module, Module::load_ptx(context, ptx, name));
  module->add_aliases(lowered_names);
  return module;
}

}  // namespace km
