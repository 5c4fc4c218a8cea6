// kernelmill compile: CUDA C++ to PTX.
#include "tools/commands.h"
#include "tools/error.h"
#include "tools/files.h"
#include "tools/source.h"

namespace km::tools {
namespace {

class CompileCommand : public Command {
 public:
  explicit CompileCommand(CLI::App& app);
  int run() override;

 private:
  Status compile() const;
  std::string output_path() const;

  std::string file_;
  std::string output_;
  std::vector<std::string> instances_;
  CompileOptions options_;
};

CompileCommand::CompileCommand(CLI::App& app)
    : Command(app.add_subcommand("compile", "Compile CUDA C++ to PTX")) {
  parser_->add_option("FILE", file_, "CUDA C++ source")->required()->type_name("FILE.cu");
  parser_
      ->add_option("-o,--output", output_,
                   "Where the PTX goes; - is standard output (default: FILE.ptx, here)")
      ->type_name("FILE.ptx");
  parser_
      ->add_option("--instantiate", instances_,
                   "Instantiate a template kernel and say its name in the PTX: 'scale<float>'")
      ->type_name("NAME")
      ->allow_extra_args(false);
  add_compile_options(*parser_, options_);
}

std::string CompileCommand::output_path() const {
  if (!output_.empty()) return output_;
  const size_t slash = file_.rfind('/');
  const std::string name = slash == std::string::npos ? file_ : file_.substr(slash + 1);
  return name.substr(0, name.rfind('.')) + ".ptx";
}

Status CompileCommand::compile() const {
  const std::string output = output_path();
  KM_ASSIGN(std::string text, read_file(file_));
  KM_TRY(check_writable(output));
  KM_ASSIGN(const Program program, compile_source({file_, std::move(text)}, options_, instances_));
  KM_TRY(write_file(output, program_ptx(program.get())));
  for (const std::string& instance : instances_) {
    const std::string name = copy_text([&](char* buffer, uint64_t capacity, uint64_t* size) {
      return km_program_lowered_name(program.get(), instance.c_str(), buffer, capacity, size);
    });
    std::fprintf(stderr, "%s: %s\n", instance.c_str(), name.c_str());
  }
  return {};
}

int CompileCommand::run() {
  const Status status = compile();
  return status ? kExitOk : report(status.error());
}

}  // namespace

std::unique_ptr<Command> make_compile(CLI::App& app) {
  return std::make_unique<CompileCommand>(app);
}

}  // namespace km::tools
