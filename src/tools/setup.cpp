// kernelmill setup: installs NVRTC, which compiles CUDA C++, in a folder of the user's. pip unpacks
// into that folder, so the system's Python is not changed.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/arch/constants.h"
#include "base/env.h"
#include "tools/commands.h"
#include "tools/error.h"
#include "tools/files.h"
#include "tools/kernels/program.h"
#include "tools/nvrtc.h"
#include "tools/setup/place.h"

namespace km::tools {
namespace {

namespace fs = std::filesystem;

struct Wheel {
  const char* name;
  const char* version;
  /// The checksums of the file for each architecture. pip takes the one for this machine.
  const char* sha256[2];
};

constexpr std::array kWheels = {
#define KM_WHEEL(name, version, ...) Wheel{name, version, {__VA_ARGS__}},
#include "tools/nvrtc_wheels.inc"
#undef KM_WHEEL
};

constexpr const char* kFooter = R"(NVRTC and the CUDA headers are NVIDIA's, under NVIDIA's licence;
their checksums are compared with those of the packages that this version was tested with. They lie
in the folder kernelmill/nvrtc of $XDG_DATA_HOME (~/.local/share), where every program that uses
Kernelmill finds them.)";

/// The lines of a requirements file: each package with its exact version and checksum.
std::string requirements() {
  std::string text;
  for (const Wheel& wheel : kWheels) {
    text += std::string(wheel.name) + "==" + wheel.version;
    for (const char* const each : wheel.sha256) text += std::string(" --hash=sha256:") + each;
    text += '\n';
  }
  return text;
}

/// The folder "kernelmill" of the user's data.
Result<fs::path> data_folder() {
  const auto data = foreign_env("XDG_DATA_HOME");
  if (data && data->starts_with('/')) return fs::path(*data) / "kernelmill";
  const auto home = foreign_env("HOME");
  if (home && home->starts_with('/')) return fs::path(*home) / ".local/share/kernelmill";
  return error(KM_ERROR_NOT_FOUND,
               "there is no folder for NVRTC: set HOME or XDG_DATA_HOME to an absolute path");
}

/// Runs a program whose output goes to standard error, or is dropped. pip before 22.1 ignores the
/// environment variable for quiet operation and has no option for it.
Result<int> run_aside(bool is_quiet, const std::vector<std::string>& words) {
  const std::string run = "export PIP_ROOT_USER_ACTION=ignore; exec \"$@\" ";
  std::vector<std::string> all = {"sh", "-c", run + (is_quiet ? ">/dev/null 2>&1" : ">&2"), "sh"};
  all.insert(all.end(), words.begin(), words.end());
  return run_program(std::move(all));
}

bool works(const std::vector<std::string>& words) {
  const Result<int> code = run_aside(true, words);
  return code && *code == 0;
}

/// The command line of an available installer of Python packages.
Result<std::vector<std::string>> find_installer() {
  for (const char* python : {"python3", "/usr/bin/python3", "python"}) {
    if (!works({python, "-m", "pip", "--version"})) continue;
    return std::vector<std::string>{
        python, "-m", "pip", "install", "--disable-pip-version-check", "--no-compile"};
  }
  if (works({"uv", "--version"})) return std::vector<std::string>{"uv", "pip", "install"};
  return error(
      KM_ERROR_NOT_FOUND,
      "'kernelmill setup' downloads with pip or uv, and finds neither python3 with pip nor "
      "uv. Install one ('apt install python3-pip', 'dnf install python3-pip') and run it "
      "again, or follow 'kernelmill setup --offline', or set KM_NVRTC to the NVRTC of a "
      "CUDA toolkit");
}

/// Removes the static archives, most of the compiler's size, because nothing links them.
void remove_archives(const fs::path& folder) {
  std::error_code ignored;
  std::vector<fs::path> archives;
  fs::recursive_directory_iterator entry(folder, ignored);
  for (; !ignored && entry != fs::recursive_directory_iterator(); entry.increment(ignored)) {
    if (entry->path().extension() == ".a") archives.push_back(entry->path());
  }
  for (const fs::path& archive : archives) fs::remove(archive, ignored);
}

/// A folder that is removed with the object, including its contents.
class WorkFolder {
 public:
  explicit WorkFolder(fs::path path) : path_(std::move(path)) {}
  ~WorkFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

Status install(std::vector<std::string> installer, const fs::path& data, const std::string& from) {
  const WorkFolder work(new_folder(data));
  std::error_code failure;
  fs::create_directories(work.path() / "tree", failure);
  if (failure) return file_error(work.path().string(), failure.message());
  const std::string list = (work.path() / "requirements.txt").string();
  KM_TRY(write_output(list, requirements()));
  for (const std::string& word : {std::string("--no-deps"), std::string("--only-binary=:all:"),
                                  std::string("--require-hashes"), std::string("--target"),
                                  (work.path() / "tree").string(), std::string("-r"), list}) {
    installer.push_back(word);
  }
  if (!from.empty()) installer.insert(installer.end(), {"--no-index", "--find-links", from});
  KM_ASSIGN(const int code, run_aside(false, installer));
  if (code != 0) {
    return error(KM_ERROR_IO, in_quotes(installer[0]) + " could not bring NVRTC (it ended with " +
                                  std::to_string(code) +
                                  "; its reasons stand above). Without a network follow "
                                  "'kernelmill setup --offline'");
  }
  remove_archives(work.path());
  return replace_nvrtc(data, work.path() / "tree");
}

void print_offline_advice() {
  std::string names;
  for (const Wheel& wheel : kWheels) names += std::string(" ") + wheel.name + "==" + wheel.version;
  std::printf(
      "On a machine with a network and pip:\n"
      "  pip download --no-deps --only-binary=:all: --platform manylinux2014_%s \\\n"
      "    --dest nvrtc%s\n"
      "Take the folder nvrtc to this machine, then:\n"
      "  kernelmill setup --from nvrtc\n"
      "Or set KM_NVRTC to the NVRTC of a CUDA toolkit, a file or its folder. PTX runs without "
      "it.\n",
      arch::kSystemName, names.c_str());
}

class SetupCommand : public Command {
 public:
  explicit SetupCommand(CLI::App& app);
  int run() override;

 private:
  Status bring() const;

  bool offline_ = false, check_ = false, list_ = false, force_ = false, yes_ = false;
  std::string from_;
};

SetupCommand::SetupCommand(CLI::App& app)
    : Command(app.add_subcommand("setup", "Bring NVRTC, which compiles CUDA C++")) {
  parser_->footer(kFooter);
  parser_->add_flag("--check", check_, "Only say which NVRTC is found");
  parser_->add_flag("--force", force_, "Bring it even if one is found");
  parser_->add_flag("-y,--yes", yes_,
                    "Remove what lies in NVRTC's folder without asking, whoever put it there");
  parser_->add_option("--from", from_, "Take the packages from a folder, even if one is found")
      ->type_name("DIR")
      ->check(CLI::ExistingDirectory);
  parser_->add_flag("--offline", offline_, "Say how to bring it to a machine without a network");
  parser_->add_flag("--list", list_, "Print the packages with their checksums");
}

Status SetupCommand::bring() const {
  KM_ASSIGN(std::vector<std::string> installer, find_installer());
  KM_ASSIGN(const fs::path data, data_folder());
  KM_ASSIGN(const SetupLock lock, SetupLock::take(data));
  remove_leftovers(data);
  KM_TRY(check_place(data, yes_));
  note("bringing NVRTC by %s", installer[0].c_str());
  KM_TRY(install(std::move(installer), data, from_.empty() ? from_ : fs::absolute(from_).string()));
  note("NVRTC lies in %s; the one that programs find is", (data / "nvrtc").c_str());
  // This process may have searched already and cached the outcome, so a new one checks.
  KM_ASSIGN(const int code, run_program({"/proc/self/exe", "setup", "--check"}));
  return code == 0 ? Status()
                   : error(KM_ERROR_NVRTC_UNAVAILABLE, "NVRTC was downloaded but cannot be found");
}

/// Prints the NVRTC that this process found, or the reason why there is none.
int report_found(const Result<NvrtcFound>& found) {
  if (!found) return report(found.error());
  std::printf("NVRTC %s: %s\n", found->release.c_str(), found->path.c_str());
  return kExitOk;
}

int SetupCommand::run() {
  if (list_) {
    std::fputs(requirements().c_str(), stdout);
    return kExitOk;
  }
  if (offline_) {
    print_offline_advice();
    return kExitOk;
  }
  if (check_) return report_found(find_nvrtc());
  if (!force_ && from_.empty()) {
    const Result<NvrtcFound> found = find_nvrtc();
    if (found) return report_found(found);
  }
  const Status status = bring();
  return status ? kExitOk : report(status.error());
}

}  // namespace

std::unique_ptr<Command> make_setup(CLI::App& app) { return std::make_unique<SetupCommand>(app); }

}  // namespace km::tools
