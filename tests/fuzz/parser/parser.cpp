// The parser and verifier on any bytes, for libFuzzer and for replaying its corpus: an error has a
// place; a module is sound, and printed and read again it is the same; a kernel of it is the same
// when it is read alone.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ptx/index/module_index.h"
#include "ptx/ptx.h"

namespace {

void require(bool condition, const char* what, const std::string& detail) {
  if (condition) return;
  std::fprintf(stderr, "%s: %s\n", what, detail.c_str());
  std::abort();
}

/// A text that is wrong may have an index too, whose excerpts are then right or wrong.
void read_kernels_alone(std::string_view text, const km::ptx::Module* whole) {
  const auto index = km::ptx::ModuleIndex::read(text);
  if (!index) return;
  for (const std::string_view entry : index->entries()) {
    const auto part = km::ptx::parse_excerpt(text, index->excerpt({&entry, 1}), "fuzz.ptx");
    if (whole == nullptr) continue;
    require(static_cast<bool>(part), "sound as a whole, but not in part",
            part ? "" : part.error().message);
    const km::ptx::Function* const alone = (*part)->find_function(entry);
    const km::ptx::Function* const together = whole->find_function(entry);
    require(alone != nullptr && together != nullptr, "a kernel is lost", std::string(entry));
    require(alone->code.size() == together->code.size(), "a kernel differs", std::string(entry));
  }
}

}  // namespace

// libFuzzer names it.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  auto module = km::ptx::parse(text, "fuzz.ptx");
  read_kernels_alone(text, module ? module->get() : nullptr);
  if (!module) {
    const std::string& message = module.error().message;
    const bool is_version = message.find(" is not supported, versions ") != std::string::npos;
    const km_status expected = is_version ? KM_ERROR_UNSUPPORTED_PTX : KM_ERROR_INVALID_PTX;
    require(module.error().status == expected, "an error of another kind", message);
    require(message.rfind("fuzz.ptx:", 0) == 0, "an error without a place", message);
    return 0;
  }
  const auto verified = km::ptx::verify(**module);
  require(static_cast<bool>(verified), "parsed, but not sound", verified.error().message);
  const std::string once = km::ptx::print(**module);
  auto again = km::ptx::parse(once, "again.ptx");
  require(static_cast<bool>(again), "printed, but not read again",
          again ? "" : again.error().message);
  require(km::ptx::print(**again) == once, "printed in two ways", once);
  return 0;
}
