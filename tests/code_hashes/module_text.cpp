#include "module_text.h"

#include <fstream>
#include <sstream>

#include "compile/compile.h"
#include "ptx/checks/program_check.h"
#include "ptx/ptx.h"

namespace km::code_hashes {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void compile(const fs::path& path, std::vector<std::string> options, ModuleText* module) {
  CompileInput input;
  input.source = module->ptx;
  input.name = module->name;
  input.options = std::move(options);
  input.options.push_back("-I" + path.parent_path().string());
  input.architecture = "compute_90";
  CompileOutput output;
  if (const Status status = compile_cuda(input, output); !status) {
    module->error = status.error().message;
  }
  module->ptx = std::move(output.ptx);
}

}  // namespace

ModuleText read_module(const fs::path& path, std::string name, std::vector<std::string> options) {
  ModuleText module{std::move(name), read(path), {}};
  if (path.extension() == ".cu") compile(path, std::move(options), &module);
  return module;
}

Result<std::shared_ptr<const simt::Program>> load(const ModuleText& text) {
  if (!text.error.empty()) return Error{KM_ERROR_COMPILER, text.error};
  KM_ASSIGN(std::shared_ptr<const ptx::Module> module, ptx::parse(text.ptx, text.name));
  KM_TRY(ptx::check_program(*module));
  return simt::Program::load(module);
}

}  // namespace km::code_hashes
