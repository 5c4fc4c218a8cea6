// kernelmill compile: compiles CUDA C++ to PTX, and either of them to object code for CPUs.
#include "base/printable.h"
#include "tools/arrays/argument.h"
#include "tools/commands.h"
#include "tools/error.h"
#include "tools/exec/exec_program.h"
#include "tools/files.h"
#include "tools/kernels/kernel.h"
#include "tools/kernels/source.h"
#include "tools/terminal/progress.h"

namespace km::tools {
namespace {

class CompileCommand : public Command {
 public:
  explicit CompileCommand(CLI::App& app);
  int run() override;

 private:
  Status compile() const;
  Status write_object(const std::string& output, const Source& source) const;
  std::string output_path() const;

  std::string file_;
  std::string output_;
  std::string target_ = "ptx";
  std::string isa_;
  std::vector<std::string> blocks_;
  std::vector<std::string> instances_;
  CompileOptions options_;
};

CompileCommand::CompileCommand(CLI::App& app)
    : Command(app.add_subcommand("compile", "Compile CUDA C++ to PTX, or for this machine's CPU")) {
  parser_->add_option("FILE", file_, "CUDA C++ source; for the CPU also PTX")
      ->required()
      ->type_name("FILE.cu");
  parser_
      ->add_option("-o,--output", output_,
                   "Where the result goes; for PTX - is standard output (default: FILE.ptx or "
                   "FILE.kmo, here)")
      ->type_name("FILE");
  parser_
      ->add_option("--target", target_,
                   "ptx, or cpu: object code that loads without a compiler (default ptx)")
      ->check(CLI::IsMember({"ptx", "cpu"}));
  parser_
      ->add_option("-b,--block", blocks_,
                   "With --target cpu: a block size to make code for besides that for any; once "
                   "for each")
      ->type_name("X[,Y[,Z]]")
      ->allow_extra_args(false);
  parser_
      ->add_option("--isa", isa_,
                   "With --target cpu: the vector instruction set, of this or another architecture "
                   "(KM_CPU_OBJECT_ISA)")
      ->type_name("NAME");
  parser_
      ->add_option("--instantiate", instances_,
                   "Instantiate a template kernel and say its name in the PTX: 'scale<float>'")
      ->type_name("NAME")
      ->allow_extra_args(false);
  add_compile_options(*parser_, options_);
}

std::string CompileCommand::output_path() const {
  if (parser_->count("--output") != 0) return output_;
  const size_t slash = file_.rfind('/');
  const std::string name = slash == std::string::npos ? file_ : file_.substr(slash + 1);
  return name.substr(0, name.rfind('.')) + (target_ == "cpu" ? ".kmo" : ".ptx");
}

Status CompileCommand::write_object(const std::string& output, const Source& source) const {
  std::vector<uint32_t> sizes;
  for (const std::string& block : blocks_) {
    KM_ASSIGN(const auto size, parse_dimensions(block, "--block"));
    sizes.insert(sizes.end(), size.begin(), size.end());
  }
  // The backend reads its settings when it is loaded, which opening a device does.
  if (!isa_.empty()) KM_TRY(set_variable("KM_CPU_OBJECT_ISA", isa_));
  Device device;
  Context context;
  KM_TRY(check(km_device_open("cpu", device.out())));
  KM_TRY(check(km_context_create(device.get(), context.out())));
  KM_ASSIGN(const Module module, load_module(context.get(), source, options_, instances_));
  const Progress progress("making machine code for " + file_);
  return check(km_module_save_object(module.get(), output.c_str(), sizes.data(), sizes.size() / 3));
}

Status CompileCommand::compile() const {
  const std::string output = output_path();
  if (target_ == "ptx" && !blocks_.empty()) {
    return usage_error("--block goes with --target cpu: PTX is for blocks of any size");
  }
  if (target_ == "ptx" && !isa_.empty()) {
    return usage_error("--isa goes with --target cpu: PTX is for every machine");
  }
  if (output == "-" && target_ == "cpu") {
    return usage_error("object code goes to a file: name it by --output");
  }
  KM_ASSIGN(std::string text, read_named_file(file_));
  KM_TRY(check_output(output));
  if (target_ == "cpu") return write_object(output, {file_, std::move(text)});
  KM_ASSIGN(const Program program, compile_source({file_, std::move(text)}, options_, instances_));
  KM_TRY(write_output(output, program_ptx(program.get())));
  for (const std::string& instance : instances_) {
    const std::string name = copy_text([&](char* buffer, uint64_t capacity, uint64_t* size) {
      return km_program_lowered_name(program.get(), instance.c_str(), buffer, capacity, size);
    });
    std::fprintf(stderr, "%s: %s\n", printable_name(instance).c_str(),
                 printable_name(name).c_str());
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
