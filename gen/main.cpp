// km_gen NAME [LIST...]: prints a document that is generated from one of the library's tables.
#include <cstdio>
#include <cstring>
#include <string>

#include "base/env.h"
#include "coverage.h"

namespace {

/// Escapes a text for a cell of a Markdown table, in which a bar must not occur unescaped.
std::string cell(const char* text) {
  std::string out;
  for (; *text != '\0'; ++text) {
    if (*text == '|') out += '\\';
    out += *text;
  }
  return out;
}

std::string environment() {
  std::string out =
      "# Environment variables\n\n"
      "Everything that the library reads. In a setuid program all of them count as unset.\n\n"
      "| name | values | default | what it does |\n|---|---|---|---|\n";
  for (const km::EnvEntry& entry : km::env_table()) {
    out += "| `" + std::string(entry.name) + "` | " + cell(entry.values) + " | " +
           cell(entry.default_value) + " | " + cell(entry.text) + " |\n";
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  std::string text;
  if (argc == 2 && std::strcmp(argv[1], "environment") == 0) {
    text = environment();
  } else if (argc >= 2 && std::strcmp(argv[1], "ptx-coverage") == 0) {
    text = km::gen::coverage({argv + 2, argv + argc});
  } else {
    std::fprintf(stderr, "usage: km_gen environment|ptx-coverage [LIST...]\n");
    return 2;
  }
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}
