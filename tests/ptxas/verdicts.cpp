// Reads PTX modules from standard input and says of each whether the front end takes it: the other
// side of compare.py. A module is its length in bytes, a line break, its text; the answer is a line
// "ok", "invalid MESSAGE" or "unsupported MESSAGE". With --forms it prints examples of all forms,
// with --samples fewer, with --neighbours instructions near them.
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <string>
#include <string_view>

#include "forms.h"
#include "ptx/checks/program_check.h"
#include "ptx/ptx.h"

namespace {

km::Status check(const std::string& text) {
  KM_ASSIGN(const auto module, km::ptx::parse(text, "m"));
  return km::ptx::check_program(*module);
}

}  // namespace

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  if (argc == 2 && std::string_view(argv[1]) == "--forms") {
    km::ptx::test::print_forms(std::cout);
    return 0;
  }
  if (argc == 2 && std::string_view(argv[1]) == "--samples") {
    km::ptx::test::print_samples(std::cout);
    return 0;
  }
  if (argc == 2 && std::string_view(argv[1]) == "--neighbours") {
    km::ptx::test::print_neighbours(std::cout);
    return 0;
  }
  uint64_t size_bytes = 0;
  std::string text;
  while (std::cin >> size_bytes && std::cin.get() == '\n') {
    text.resize(size_bytes);
    if (!std::cin.read(text.data(), static_cast<std::streamsize>(size_bytes))) return 1;
    const km::Status status = check(text);
    if (status) {
      std::cout << "ok\n";
      continue;
    }
    const bool invalid = status.error().status == KM_ERROR_INVALID_PTX;
    std::cout << (invalid ? "invalid " : "unsupported ") << status.error().message << '\n';
  }
  return 0;
}
