// kernelmill wrap: generates typed functions in C, C++, Rust, Go or Zig for the kernels of a file.
#include "tools/arrays/argument.h"
#include "tools/commands.h"
#include "tools/error.h"
#include "tools/files.h"
#include "tools/kernels/kernel.h"
#include "tools/kernels/source.h"
#include "tools/wrap/emit.h"
#include "tools/wrap/inspect.h"

namespace km::tools {
namespace {

struct Language {
  const char* name;
  std::string (*emit)(const Wrapper& wrapper);
};
constexpr Language kLanguages[] = {
    {"c", emit_c}, {"cpp", emit_cpp}, {"rust", emit_rust}, {"go", emit_go}, {"zig", emit_zig}};

class WrapCommand : public Command {
 public:
  explicit WrapCommand(CLI::App& app);
  int run() override;

 private:
  Status wrap() const;
  std::string module_name() const;
  std::string command_text() const;

  std::string file_;
  std::string output_ = "-";
  std::string language_;
  std::string module_;
  std::vector<std::string> instances_;
  std::vector<std::string> blocks_;
  bool has_object_ = false;
  CompileOptions options_;
};

WrapCommand::WrapCommand(CLI::App& app)
    : Command(
          app.add_subcommand("wrap", "Write typed functions that launch the kernels of a file")) {
  parser_->add_option("FILE", file_, "CUDA C++ source, or PTX")->required()->type_name("FILE.cu");
  parser_->add_option("--lang", language_, "c, cpp, rust, go or zig")
      ->required()
      ->check(CLI::IsMember({"c", "cpp", "rust", "go", "zig"}));
  parser_
      ->add_option("-o,--output", output_,
                   "Where the wrapper goes; - is standard output (default -)")
      ->type_name("FILE");
  parser_
      ->add_option("--name", module_,
                   "Name of the module, namespace or package, and of C's prefix (default: the "
                   "file's)")
      ->type_name("NAME");
  parser_
      ->add_option("--instantiate", instances_,
                   "Wrap this instance of a template kernel: 'scale<float>'")
      ->type_name("NAME")
      ->allow_extra_args(false);
  parser_->add_flag("--object", has_object_,
                    "Embed object code for this machine's CPU as well: it loads without compiling");
  parser_
      ->add_option("-b,--block", blocks_,
                   "With --object: a block size to make code for besides that for any; once for "
                   "each")
      ->type_name("X[,Y[,Z]]")
      ->allow_extra_args(false);
  add_compile_options(*parser_, options_);
}

std::string WrapCommand::module_name() const {
  if (!module_.empty()) return module_;
  const size_t slash = file_.rfind('/');
  const std::string name = slash == std::string::npos ? file_ : file_.substr(slash + 1);
  const std::string plain = plain_name(name.substr(0, name.rfind('.')));
  return safe_name(plain) == plain ? plain : plain + "_cu";
}

/// The command line with file names reduced to their last component, since the folders are this
/// machine's.
std::string WrapCommand::command_text() const {
  const size_t slash = file_.rfind('/');
  std::string text = "kernelmill wrap " +
                     (slash == std::string::npos ? file_ : file_.substr(slash + 1)) + " --lang " +
                     language_;
  if (!module_.empty()) text += " --name " + module_;
  for (const std::string& instance : instances_) text += " --instantiate '" + instance + "'";
  if (has_object_) text += " --object";
  for (const std::string& block : blocks_) text += " --block " + block;
  for (const std::string& define : options_.defines) text += " -D" + define;
  for (const std::string& option : options_.nvrtc) text += " --nvrtc=" + option;
  return text;
}

Status WrapCommand::wrap() const {
  const std::string name = module_name();
  if (name.empty() || plain_name(name) != name || safe_name(name) != name) {
    return usage_error(in_quotes(name) + " cannot be the name of a module; give another by --name");
  }
  if (!has_object_ && !blocks_.empty()) {
    return usage_error("--block goes with --object: PTX is for blocks of any size");
  }
  ObjectOptions object{has_object_, {}};
  for (const std::string& block : blocks_) {
    KM_ASSIGN(const auto size, parse_dimensions(block, "--block"));
    object.blocks.insert(object.blocks.end(), size.begin(), size.end());
  }
  KM_ASSIGN(std::string text, read_named_file(file_));
  make_folder_of(output_);
  KM_TRY(check_output(output_));
  KM_ASSIGN(Wrapper wrapper,
            inspect_kernels({file_, std::move(text)}, options_, instances_, object));
  if (wrapper.kernels.empty()) {
    return error(KM_ERROR_NOT_FOUND, in_quotes(file_) + " has no kernels to wrap");
  }
  wrapper.module = name;
  wrapper.command = command_text();
  for (const Language& language : kLanguages) {
    if (language_ == language.name) return write_output(output_, language.emit(wrapper));
  }
  return usage_error("there is no language '" + language_ + "'");
}

int WrapCommand::run() {
  const Status status = wrap();
  return status ? kExitOk : report(status.error());
}

}  // namespace

std::unique_ptr<Command> make_wrap(CLI::App& app) { return std::make_unique<WrapCommand>(app); }

}  // namespace km::tools
