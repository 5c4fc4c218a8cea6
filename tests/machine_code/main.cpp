// Checks machine code, which this machine need not be able to run:
//   km_machine_code counts|orders TABLE [--write]
// Differences from the table go to standard output, and the status is 1 if there are any. --write
// replaces the table's last columns by what is true now; nothing is a difference then.
#include <cstdio>
#include <string>
#include <string_view>

#include "checks.h"

namespace km::machine_code {
namespace {

int usage(const char* program) {
  std::fprintf(stderr, "usage: %s counts|orders TABLE [--write]\n", program);
  return 2;
}

Result<bool> run(std::string_view check, const std::string& path, bool writes) {
  const bool counts = check == "counts";
  KM_ASSIGN(const Table table, read_table(path, counts ? kCountColumns : kOrderColumns));
  KM_ASSIGN(const Outcome outcome, counts ? check_counts(table) : check_orders(table));
  if (writes) {
    KM_TRY(write_table(outcome.now));
    return true;
  }
  std::fputs(outcome.differences.c_str(), stdout);
  if (outcome.differences.empty()) return true;
  std::puts("If that is meant to be so: make machine-code");
  return false;
}

}  // namespace
}  // namespace km::machine_code

int main(int argc, char** argv) {
  using namespace km::machine_code;
  const std::string_view check = argc > 1 ? argv[1] : "";
  const bool writes = argc == 4 && std::string_view(argv[3]) == "--write";
  if ((check != "counts" && check != "orders") || (argc != 3 && !writes)) return usage(argv[0]);
  const auto is_same = run(check, argv[2], writes);
  if (is_same) return *is_same ? 0 : 1;
  std::fprintf(stderr, "%s\n", is_same.error().message.c_str());
  return 2;
}
