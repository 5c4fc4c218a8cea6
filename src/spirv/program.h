// The implementation of Program: the engine's analysed kernels, and what a shader needs of them.
#pragma once

#include <memory>
#include <vector>

#include "simt/program/program.h"
#include "spirv/spirv.h"

namespace km::spirv {

class ShaderProgram final : public Program {
 public:
  ShaderProgram(std::shared_ptr<const simt::ProgramImpl> program, const DeviceFacts& facts,
                const Options& options)
      : program_(std::move(program)), facts_(facts), options_(options) {}

  void analyse();
  std::span<const Kernel> kernels() const override { return kernels_; }
  std::span<const simt::Variable> variables() const override { return program_->variables(); }
  uint64_t variable_offset(uint32_t variable) const override { return offsets_[variable]; }
  uint64_t variables_bytes() const override { return variables_bytes_; }
  const DeviceFacts& facts() const override { return facts_; }

  /// The code that the analysis has made, or other code for other options.
  Result<Code> code(uint32_t kernel, const Options& options) const;

 private:
  Result<Code> translate(uint32_t kernel, const Options& options, Kernel* out_facts) const;
  void lay_out_variables();

  std::shared_ptr<const simt::ProgramImpl> program_;
  const DeviceFacts facts_;
  const Options options_;
  std::vector<Kernel> kernels_;
  std::vector<Code> codes_;  // by kernel, made with options_; empty for one that is refused
  std::vector<uint64_t> offsets_;
  uint64_t variables_bytes_ = 0;
};

}  // namespace km::spirv
