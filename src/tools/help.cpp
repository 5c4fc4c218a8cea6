// kernelmill help [COMMAND]: prints the text of `kernelmill COMMAND --help`.
#include <cstdio>
#include <string_view>

#include "base/text.h"
#include "tools/commands.h"
#include "tools/error.h"

namespace km::tools {
namespace {

class HelpCommand : public Command {
 public:
  explicit HelpCommand(CLI::App& app)
      : Command(app.add_subcommand("help", "Explain a command")), app_(app) {
    parser_->add_option("COMMAND", command_, "The command; none: what commands there are")
        ->type_name("[COMMAND]");
  }
  int run() override;

 private:
  CLI::App& app_;
  std::string command_;
};

int HelpCommand::run() {
  const CLI::App* chosen = command_.empty() ? &app_ : nullptr;
  std::vector<std::string> names;
  for (const CLI::App* known : app_.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(known->get_name());
    if (known->get_name() == command_) chosen = known;
  }
  if (chosen == nullptr) {
    const std::vector<std::string_view> candidates(names.begin(), names.end());
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
    return report(usage_error("unknown command '" + command_ + "'." +
                              suggestion(command_, candidates) + " The commands are " + list));
  }
  // App::help() would print the help of the selected subcommand, which is `help` itself.
  const std::string name = chosen == &app_ ? "kernelmill" : "kernelmill " + chosen->get_name();
  const auto formatter = chosen->get_formatter();
  std::fputs(formatter->make_help(chosen, name, CLI::AppFormatMode::Normal).c_str(), stdout);
  return kExitOk;
}

}  // namespace

std::unique_ptr<Command> make_help(CLI::App& app) { return std::make_unique<HelpCommand>(app); }

}  // namespace km::tools
