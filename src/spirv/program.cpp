#include "spirv/program.h"

#include <algorithm>

#include "base/integers.h"
#include "spirv/kernel/modes.h"
#include "spirv/kernel/shader.h"
#include "spirv/kernel/stepped.h"
#include "spirv/kernel/structured.h"

namespace km::spirv {

void ShaderProgram::lay_out_variables() {
  for (const simt::Variable& variable : program_->variables()) {
    variables_bytes_ = round_up(variables_bytes_, std::max<uint64_t>(variable.align_bytes, 16));
    offsets_.push_back(variables_bytes_);
    variables_bytes_ += variable.size_bytes;
  }
}

/// Translates every kernel, to know which are refused.
void ShaderProgram::analyse() {
  lay_out_variables();
  for (uint32_t i = 0; i < program_->kernels().size(); ++i) {
    Kernel kernel;
    Code code;
    kernel.info = program_->kernels()[i];
    if (kernel.info.refusal.empty()) {
      auto made = translate(i, options_, &kernel);
      if (made) {
        code = std::move(*made);
      } else {
        kernel.info.refusal = made.error().message;
      }
    }
    codes_.push_back(std::move(code));
    kernels_.push_back(std::move(kernel));
  }
}

Result<Code> ShaderProgram::code(uint32_t index, const Options& options) const {
  if (options == options_ && !codes_[index].empty()) return codes_[index];
  Kernel facts;
  return translate(index, options, &facts);
}

Result<Code> ShaderProgram::translate(uint32_t index, const Options& options,
                                      Kernel* out_facts) const {
  const simt::KernelInfo& info = program_->kernels()[index];
  if (!info.refusal.empty())
    return make_error(KM_ERROR_UNSUPPORTED_PTX, "%s", info.refusal.c_str());
  if (!(facts_.has_buffer_addresses || facts_.has_arena) || !facts_.has_int64) {
    return make_error(
        KM_ERROR_UNSUPPORTED_PTX,
        "'%s' cannot run on '%s': the device lacks 64-bit integers or buffer addresses",
        info.name.c_str(), facts_.name.c_str());
  }
  const simt::AnalysedKernel& analysed = program_->analysed(index);
  KM_ASSIGN(ModeChoice choice, choose_mode(program_->module(), analysed, info, facts_));
  if (options.stepped) choice.mode = Mode::stepped;
  simt::Kernel storage;
  const simt::Kernel* kernel = &analysed.kernel;
  if (choice.mode == Mode::stepped) {
    KM_ASSIGN(storage, simt::build_kernel(program_->module(), *analysed.function,
                                          simt::BlockEnds::at_warp_operations));
    kernel = &storage;
  }
  Shader shader({*program_, analysed, info, *kernel, offsets_, facts_, options, choice.mode});
  shader.in_threads([&] {
    if (choice.mode == Mode::stepped) {
      Stepped(shader, choice.spin_headers).emit();
    } else {
      Structured(shader).emit();
    }
  });
  const uint32_t nesting = shader.deepest_nesting();
  if (facts_.most_nesting != 0 && nesting > facts_.most_nesting) {
    return make_error(KM_ERROR_UNSUPPORTED_PTX,
                      "'%s' is not supported on '%s': its shader has %u branches and loops one in "
                      "the other, and the driver's values are wrong beyond %u",
                      info.name.c_str(), facts_.name.c_str(), nesting, facts_.most_nesting);
  }
  if (!shader.refusal().empty()) {
    return make_error(KM_ERROR_UNSUPPORTED_PTX, "%s", shader.refusal().c_str());
  }
  out_facts->mode = choice.mode;
  out_facts->uses_printf = shader.uses_printf;
  out_facts->shared_extra_bytes = shader.shared_extra_bytes();
  return shader.finish();
}

Result<std::shared_ptr<const Program>> Program::load(std::shared_ptr<const ptx::Module> module,
                                                     const DeviceFacts& facts,
                                                     const Options& options) {
  KM_ASSIGN(auto loaded, simt::Program::load(std::move(module)));
  auto program = std::make_shared<ShaderProgram>(
      std::static_pointer_cast<const simt::ProgramImpl>(loaded), facts, options);
  program->analyse();
  const auto kernels = program->kernels();
  const bool none = std::none_of(kernels.begin(), kernels.end(),
                                 [](const Kernel& one) { return one.info.refusal.empty(); });
  if (none && !kernels.empty()) {
    return make_error(KM_ERROR_UNSUPPORTED_PTX, "%s", kernels[0].info.refusal.c_str());
  }
  return std::shared_ptr<const Program>(std::move(program));
}

Result<Code> translate(const Program& program, uint32_t kernel, const Options& options) {
  return static_cast<const ShaderProgram&>(program).code(kernel, options);
}

}  // namespace km::spirv
