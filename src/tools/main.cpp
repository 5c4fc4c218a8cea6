// The `kernelmill` command.
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "base/printable.h"
#include "base/text.h"
#include "tools/commands.h"
#include "tools/error.h"
#include "tools/library.h"
#include "tools/terminal/colour.h"
#include "tools/terminal/standard_files.h"

namespace km::tools {
namespace {

constexpr const char* kDescription =
    "Runs CUDA kernels (CUDA C++ or PTX) on any CPU and on NVIDIA GPUs.";
constexpr const char* kFooter =
    "Exit codes: 0 done, 1 it failed, 2 the command line is wrong.\n"
    "With --json, a failure is on standard output, too: {\"error\": {\"message\": ...}}.\n"
    "'kernelmill help COMMAND' explains a command; see also kernelmill(1).";

/// " Did you mean '--grid'?", or advice to move an option that belongs to the program to run.
std::string option_advice(const CLI::App& command, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  const std::string near = word.size() > 2 ? suggestion(word, candidates) : std::string();
  const bool runs_program = command.get_option_no_throw("PROGRAM") != nullptr;
  if (!near.empty() || !runs_program) return near;
  return " Options of the program stand behind '--'.";
}

/// The error of a command line that did not parse. An unknown option comes first, because it
/// explains why others are missing.
std::string mistake_text(const CLI::App& app, const CLI::ParseError& mistake) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  const CLI::App& command = chosen.empty() ? app : *chosen[0];
  for (const std::string& word : app.remaining(true)) {
    if (word.size() < 2 || word[0] != '-' || word == "--") continue;
    const std::string option = word.substr(0, word.find('='));
    return "unknown option '" + option + "'." + option_advice(command, option);
  }
  const std::vector<std::string> words = app.remaining();
  if (!chosen.empty() || words.empty()) return mistake.what();
  std::vector<std::string> names;
  for (const CLI::App* known : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(known->get_name());
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  return "unknown command '" + words[0] + "'." + suggestion(words[0], candidates);
}

/// Help and version were requested and go to standard output; errors go to standard error.
int report_parse(const CLI::App& app, const CLI::ParseError& mistake) {
  if (mistake.get_exit_code() == 0) return app.exit(mistake);
  std::string command = "kernelmill";
  for (const CLI::App* chosen : app.get_subcommands()) command += " " + chosen->get_name();
  const std::string text = mistake_text(app, mistake);
  std::fprintf(stderr, "%s %s\nSee '%s --help'.\n",
               painted(Colour::red, "kernelmill:", stderr).c_str(), printable(text).c_str(),
               command.c_str());
  print_failure_json(KM_ERROR_INVALID_ARGUMENT, text, kExitUsage);
  return kExitUsage;
}

/// True if JSON is requested, even if the command line does not parse. Words after '--' belong to
/// the program to run.
bool asks_for_json(int argc, char** argv) {
  for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i) {
    if (std::string_view(argv[i]) == "--json") return true;
  }
  return false;
}

int run_command(int argc, char** argv) {
  if (asks_for_json(argc, argv)) report_json();
  CLI::App app(kDescription, "kernelmill");
  app.footer(kFooter);
  app.set_version_flag("-V,--version", "kernelmill " + version_text());
  app.require_subcommand(0, 1);
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(make_info(app));
  commands.push_back(make_run(app));
  commands.push_back(make_kernels(app));
  commands.push_back(make_compile(app));
  commands.push_back(make_corpus(app));
  commands.push_back(make_trace(app));
  commands.push_back(make_exec(app));
  commands.push_back(make_check(app));
  commands.push_back(make_tune(app));
  commands.push_back(make_explain(app));
  commands.push_back(make_wrap(app));
  commands.push_back(make_setup(app));
  commands.push_back(make_help(app));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& mistake) {
    return report_parse(app, mistake);
  }
  for (const auto& command : commands) {
    if (command->is_chosen()) return command->run();
  }
  std::fputs(app.help().c_str(), stderr);
  return kExitUsage;
}

}  // namespace
}  // namespace km::tools

int main(int argc, char** argv) {
  km::tools::open_standard_files();
  int code = km::tools::kExitFailure;
  try {
    code = km::tools::run_command(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("kernelmill: out of memory\n", stderr);
  } catch (const std::exception& failure) {
    km::tools::note("%s", failure.what());
  }
  const km::Status written = km::tools::finish_output();
  return written || code != km::tools::kExitOk ? code : km::tools::report(written.error());
}
