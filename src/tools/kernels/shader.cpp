#include "tools/kernels/shader.h"

#include <algorithm>
#include <span>

#include "base/printable.h"
#include "base/text.h"
#include "ptx/checks/program_check.h"
#include "ptx/ptx.h"
#include "shaders/naga.h"
#include "shaders/spirv_cross.h"
#include "spirv/spirv.h"
#include "tools/error.h"
#include "tools/kernels/kernel.h"

namespace km::tools {
namespace {

using spirv::Exactness;

/// A language of --emit: its name, what messages call it, and what it lacks.
struct Language {
  const char* name;
  const char* title;
  bool has_pointers;  // into device memory: else it is one buffer of words
  bool has_pointer_atomics;
  bool has_int64;
  bool has_float64;
  bool has_small_integers;
  bool has_int64_atomics;
};

constexpr Language kLanguages[] = {
    {"spirv", "SPIR-V", true, true, true, true, true, true},
    {"glsl", "GLSL", true, false, true, true, true, true},
    {"essl", "GLSL ES", false, false, false, false, false, false},
    {"msl", "Metal", true, false, true, false, true, false},
    {"hlsl", "HLSL", false, false, true, true, false, false},
    {"wgsl", "WGSL", false, false, true, false, false, false},
};

const Language* language_of(const std::string& name) {
  for (const Language& one : kLanguages) {
    if (name == one.name) return &one;
  }
  return nullptr;
}

/// Nobody has tried the device that the text is for: the code takes for granted that it rounds
/// correctly, and leaves out what the language has no words for.
spirv::DeviceFacts facts_of(const Language& language, bool has_arena) {
  spirv::DeviceFacts facts;
  facts.name = language.title;
  facts.has_arena = has_arena || !language.has_pointers;
  facts.has_buffer_addresses = !facts.has_arena;
  facts.lacks_pointer_atomics = !language.has_pointer_atomics;
  facts.has_int64 = language.has_int64;
  facts.has_int8 = facts.has_int16 = language.has_small_integers && !facts.has_arena;
  facts.has_storage_8bit = facts.has_storage_16bit = language.has_small_integers;
  facts.has_float64 = language.has_float64;
  facts.has_int64_atomics = language.has_int64_atomics && !facts.has_arena;
  facts.has_unsigned_atomics_only = true;
  for (Exactness* of_f32 : {&facts.f32_arithmetic, &facts.f32_denormals, &facts.native_f32_fma,
                            &facts.f32_fma, &facts.f32_div, &facts.f32_sqrt, &facts.i64_extended}) {
    *of_f32 = Exactness::exact;
  }
  if (!language.has_float64) return facts;
  for (Exactness* of_f64 : {&facts.f64_arithmetic, &facts.native_f64_fma, &facts.f64_fma,
                            &facts.f64_div, &facts.f64_sqrt}) {
    *of_f64 = Exactness::exact;
  }
  return facts;
}

std::string names_of(const spirv::Program& program) {
  std::string names;
  for (const spirv::Kernel& kernel : program.kernels()) {
    names += (names.empty() ? "" : ", ") + source_name(kernel.info.name);
  }
  return names;
}

Result<uint32_t> choose_kernel(const spirv::Program& program, const ShaderRequest& request) {
  const auto kernels = program.kernels();
  const std::string path = in_quotes(request.source.path);
  if (request.kernel.empty()) {
    if (kernels.size() == 1) return 0;
    return usage_error(path + ": name a kernel with --kernel. Its kernels are " +
                       names_of(program) + ".");
  }
  std::vector<uint32_t> matching;
  for (uint32_t i = 0; i < kernels.size(); ++i) {
    const std::string& name = kernels[i].info.name;
    if (name == request.kernel) return i;
    if (source_name(name) == request.kernel) matching.push_back(i);
  }
  if (matching.size() == 1) return matching[0];
  return usage_error(path + (matching.empty() ? " has no kernel " : " has several kernels ") +
                     in_quotes(request.kernel) + ". Its kernels are " + names_of(program) +
                     "; names in the PTX are taken, too.");
}

/// The comment in front of a text, which says of what it was made and what it counts on.
std::string preface(const Language& language, const spirv::Kernel& kernel,
                    const std::string& path) {
  return "// " + printable_name(source_name(kernel.info.name)) + " of " + printable_name(path) +
         ", for " + language.title + ", by kernelmill.\n" +
         "// Sums, products, fused products, quotients and roots have to be rounded correctly,\n"
         "// subnormal numbers included: compile without fast mathematics.\n";
}

/// The text with the comment in front; a text in GLSL has to begin with its version.
std::string with_preface(std::string text, const std::string& comment) {
  const bool has_version = text.starts_with("#version");
  const size_t at = has_version ? text.find('\n') + 1 : 0;
  return text.insert(at, comment);
}

Result<std::string> translated(const Language& language, std::span<const uint32_t> code) {
  const std::string name = language.name;
  if (name == "wgsl") return shaders::wgsl_of(code);
  if (name == "glsl") return shaders::text_of(code, shaders::Language::glsl_of_vulkan);
  if (name == "msl") return shaders::text_of(code, shaders::Language::msl);
  if (name == "essl") return shaders::text_of(code, shaders::Language::glsl_es);
  return shaders::text_of(code, shaders::Language::hlsl);
}

Result<std::string> ptx_of(const ShaderRequest& request) {
  if (!is_cuda(request.source.path)) return request.source.text;
  KM_ASSIGN(const Program program,
            compile_source(request.source, request.options, request.instances));
  return program_ptx(program.get());
}

}  // namespace

std::vector<std::string> shader_languages() {
  std::vector<std::string> names;
  for (const Language& one : kLanguages) names.emplace_back(one.name);
  return names;
}

Result<std::string> make_shader(const ShaderRequest& request) {
  const Language& language = *language_of(request.language);
  KM_ASSIGN(const std::string text, ptx_of(request));
  KM_ASSIGN(const auto module, ptx::parse(text, request.source.path));
  KM_TRY(ptx::check_program(*module));
  const spirv::Options options{.shape = request.shape};
  KM_ASSIGN(const auto program,
            spirv::Program::load(module, facts_of(language, request.has_arena), options));
  KM_ASSIGN(const uint32_t index, choose_kernel(*program, request));
  KM_ASSIGN(const spirv::Code code, spirv::translate(*program, index, options));
  if (request.language == "spirv") {
    return std::string(reinterpret_cast<const char*>(code.data()), code.size() * sizeof code[0]);
  }
  const spirv::Kernel& kernel = program->kernels()[index];
  Result<std::string> made = translated(language, code);
  if (!made) {
    return about(in_quotes(source_name(kernel.info.name)) + " as " + language.title,
                 std::move(made.error()));
  }
  return with_preface(std::move(*made), preface(language, kernel, request.source.path));
}

}  // namespace km::tools
