// The subcommands. Each registers itself with the parser and runs if it was selected.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>

namespace km::tools {

class Command {
 public:
  virtual ~Command() = default;
  /// Runs the command; returns the exit code.
  virtual int run() = 0;
  bool is_chosen() const { return parser_->parsed(); }

 protected:
  explicit Command(CLI::App* parser) : parser_(parser) {}
  CLI::App* parser_;
};

std::unique_ptr<Command> make_info(CLI::App& app);
std::unique_ptr<Command> make_run(CLI::App& app);
std::unique_ptr<Command> make_kernels(CLI::App& app);
std::unique_ptr<Command> make_compile(CLI::App& app);
std::unique_ptr<Command> make_corpus(CLI::App& app);
std::unique_ptr<Command> make_trace(CLI::App& app);
std::unique_ptr<Command> make_exec(CLI::App& app);
std::unique_ptr<Command> make_check(CLI::App& app);
std::unique_ptr<Command> make_tune(CLI::App& app);
std::unique_ptr<Command> make_explain(CLI::App& app);
std::unique_ptr<Command> make_setup(CLI::App& app);
std::unique_ptr<Command> make_wrap(CLI::App& app);
/// `help [COMMAND]` prints the text of `COMMAND --help`. It is made last, because it refers to the
/// others.
std::unique_ptr<Command> make_help(CLI::App& app);

}  // namespace km::tools
