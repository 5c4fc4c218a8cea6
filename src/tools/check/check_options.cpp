#include "tools/check/check_options.h"

#include "base/file/file_writer.h"
#include "tools/error.h"

namespace km::tools {
namespace {

/// Adds options with a prefix, and keeps them.
class PrefixedOptions {
 public:
  PrefixedOptions(CLI::App& parser, const std::string& prefix)
      : parser_(parser), prefix_("--" + prefix) {}

  template <typename Value>
  CLI::Option* add(const char* name, Value& value, const char* type, const char* help) {
    added_.push_back(parser_.add_option(prefix_ + name, value, help)->type_name(type));
    return added_.back();
  }
  void add_flag(const char* name, bool& value, const char* help) {
    added_.push_back(parser_.add_flag(prefix_ + name, value, help));
  }
  const std::vector<CLI::Option*>& added() const { return added_; }

 private:
  CLI::App& parser_;
  const std::string prefix_;
  std::vector<CLI::Option*> added_;
};

/// Refuses all but numbers from `least` on; the parser would take -1 for the largest number.
CLI::Validator number_from(uint64_t least, const char* description) {
  constexpr size_t kMostDigits = 18;
  const auto refuse = [least](const std::string& value) -> std::string {
    const bool is_number = !value.empty() && value.size() <= kMostDigits &&
                           value.find_first_not_of("0123456789") == std::string::npos;
    if (is_number && std::stoull(value) >= least) return "";
    return in_quotes(value) + " is no whole number from " + std::to_string(least) +
           " on with at most " + std::to_string(kMostDigits) + " digits";
  };
  return {refuse, description};
}

void add_choices(PrefixedOptions& list, CheckOptions& options) {
  list.add("kernel", options.kernels, "REGEX",
           "Only kernels whose names contain this regular expression");
  list.add("suppress", options.suppress, "FILE",
           "Leave out the findings for which a rule of this file holds")
      ->check(not_empty());
  list.add_flag("same-value", options.tells_same_values,
                "Report unordered writes of one value by several threads too");
}

void add_outputs(PrefixedOptions& list, CheckOptions& options) {
  list.add("json", options.json, "FILE", "Write the findings to this file as JSON")
      ->check(not_empty());
  list.add("sarif", options.sarif, "FILE", "Write the findings to this file as SARIF 2.1.0")
      ->check(not_empty());
  list.add("write-suppressions", options.written_rules, "FILE",
           "Write rules for all findings, as --suppress reads them")
      ->check(not_empty());
  list.add("error-exit", options.error_exit, "N",
           "The exit status if something was found; -1: the program's")
      ->check(CLI::Range(-1, 255));
  list.add("format", options.format, "NAME", "text, or compute-sanitizer for its words")
      ->check(CLI::IsMember({"text", "compute-sanitizer"}));
  list.add("log-file", options.log, "FILE", "Where compute-sanitizer's words go")
      ->check(not_empty());
  list.add("limit", options.limit, "N", "Show at most so many findings (default 100)")
      ->check(number_from(0, ""));
}

void add_orders(PrefixedOptions& list, CheckOptions& options) {
  list.add_flag("warp-in-step", options.runs_in_step,
                "Run the lanes of a warp in step, and accept code that counts on it");
  list.add("explore", options.orders, "N",
           "Run each launch in so many other orders, and compare the results")
      ->check(number_from(1, "POSITIVE"));
  list.add("schedule-seed", options.seed, "S",
           "Run all launches in the order of this seed, or explore from it on")
      ->check(number_from(1, "POSITIVE"));
  list.add_flag("ignore-atomic-order", options.ignores_sum_order,
                "Accept floating-point sums that depend on the order of atomics");
}

}  // namespace

CLI::Validator not_empty() {
  return {[](const std::string& value) {
            return value.empty() ? std::string("an empty value is given") : std::string();
          },
          ""};
}

Status CheckOptions::check() const {
  if (log.empty()) return {};
  if (prints())
    return usage_error(in_quotes(log) +
                       " gets no text: a log file is for the format compute-sanitizer, not " +
                       format);
  return check_writable(log);
}

std::vector<CLI::Option*> add_check_options(CLI::App& parser, const std::string& prefix,
                                            CheckOptions& options) {
  PrefixedOptions list(parser, prefix);
  add_choices(list, options);
  add_outputs(list, options);
  add_orders(list, options);
  return list.added();
}

}  // namespace km::tools
