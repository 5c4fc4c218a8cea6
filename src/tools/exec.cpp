// kernelmill exec: runs a program that uses the CUDA driver on our own instead.
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/dylib.h"
#include "km_version.h"
#include "tools/commands.h"
#include "tools/error.h"
#include "tools/program.h"

namespace km::tools {
namespace {

class ExecCommand : public Command {
 public:
  explicit ExecCommand(CLI::App& app);
  int run() override;

 private:
  Status prepare() const;

  int devices_ = 0;
  std::string capability_, trace_;
  uint64_t memory_bytes_ = 0;
  bool unchecked_ = false, log_ = false;
  std::vector<std::string> words_;
};

ExecCommand::ExecCommand(CLI::App& app)
    : Command(
          app.add_subcommand("exec", "Run a program that uses the CUDA driver, without a GPU")) {
  parser_->add_option("--devices", devices_, "How many devices the program sees (default 1)")
      ->check(CLI::Range(1, 64));
  parser_->add_option("--cc", capability_, "Their compute capability (default 9.0)");
  parser_->add_option("--memory", memory_bytes_, "Their memory together, such as 8G (default all)")
      ->transform(CLI::AsSizeValue(false));
  parser_->add_flag("--unchecked", unchecked_,
                    "Kernels run at full speed; their wild stores may then destroy other memory");
  parser_->add_flag("--log", log_, "Show every call of the CUDA driver");
  parser_->add_option("--trace", trace_, "Write what the devices do to this file");
  parser_->add_option("PROGRAM", words_, "The program and its arguments, behind '--'")
      ->type_name("PROGRAM [ARGUMENTS]")
      ->required();
}

/// The folder of libcuda.so.1: among the plugins.
std::string driver_folder() {
  const std::string own = folder_of_code(reinterpret_cast<const void*>(&km_version));
  return own + "/kernelmill-" KM_VERSION_STRING "/cuda";
}

Status set(const char* name, const std::string& value) {
  if (setenv(name, value.c_str(), 1) == 0) return {};
  return error(KM_ERROR_OUT_OF_HOST_MEMORY, "out of memory");
}

Status ExecCommand::prepare() const {
  const std::string folder = driver_folder();
  if (access((folder + "/libcuda.so.1").c_str(), F_OK) != 0) {
    return error(KM_ERROR_NOT_FOUND, "the CUDA driver library is not installed: there is no " +
                                         folder + "/libcuda.so.1");
  }
  const char* before = std::getenv("LD_LIBRARY_PATH");
  const bool has_more = before != nullptr && *before != '\0';
  KM_TRY(set("LD_LIBRARY_PATH", has_more ? folder + ":" + before : folder));
  KM_TRY(set("KM_CPU_MEMORY", unchecked_ ? "plain" : "checked"));
  if (devices_ != 0) KM_TRY(set("KM_CPU_DEVICES", std::to_string(devices_)));
  if (!capability_.empty()) KM_TRY(set("KM_CPU_CC", capability_));
  if (memory_bytes_ != 0) KM_TRY(set("KM_CPU_MEMORY_MIB", std::to_string(memory_bytes_ >> 20)));
  if (log_) KM_TRY(set("KM_LOG", "debug,cuda"));
  if (!trace_.empty()) KM_TRY(set("KM_TRACE", trace_));
  return {};
}

int ExecCommand::run() {
  const Status ready = prepare();
  if (!ready) return report(ready.error());
  const Result<int> code = run_program(words_);
  return code ? *code : report(code.error());
}

}  // namespace

std::unique_ptr<Command> make_exec(CLI::App& app) { return std::make_unique<ExecCommand>(app); }

}  // namespace km::tools
