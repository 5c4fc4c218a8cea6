#include "harness/prepared.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

#include "base/hash.h"
#include "harness/session.h"

namespace km::kernels {
namespace {

bool is_preparing() { return std::getenv("KM_CPU_OBJECT_ISA") != nullptr; }

/// The file of what was made of the text; empty without a folder.
std::string path_of(const std::string& text, const char* suffix) {
  const char* folder = std::getenv("KM_TEST_PREPARED");
  if (folder == nullptr) return {};
  return std::string(folder) + "/" + hash128(text).text() + suffix;
}

/// The three numbers of the size in the middle. Every kernel of a module is compiled for it and for
/// any size, which all other blocks run: each further size would cost as much again.
std::vector<uint32_t> middle_of(const std::set<BlockSize>& blocks) {
  const BlockSize& size = *std::next(blocks.begin(), static_cast<ptrdiff_t>(blocks.size() / 2));
  return {size.begin(), size.end()};
}

bool exists(const std::string& path) { return !path.empty() && std::filesystem::exists(path); }

}  // namespace

std::string prepared_ptx(const std::string& source, const std::vector<std::string>& options,
                         const std::function<std::string()>& make) {
  std::string all = source;
  for (const std::string& option : options) all += '\n' + option;
  const std::string path = path_of(all, ".ptx");
  if (exists(path)) return read_text_file(path);
  std::string ptx = make();
  if (!path.empty() && is_preparing()) std::ofstream(path, std::ios::binary) << ptx;
  return ptx;
}

std::string prepared_object(const std::string& ptx) {
  const std::string path = path_of(ptx, ".kmo");
  return exists(path) && !is_preparing() ? read_text_file(path) : std::string();
}

void prepare_object(km_module module, const std::string& ptx, const std::set<BlockSize>& blocks) {
  const std::string path = path_of(ptx, ".kmo");
  if (path.empty() || !is_preparing() || blocks.empty()) return;
  const std::vector<uint32_t> sizes = middle_of(blocks);
  const km_status status =
      km_module_save_object(module, path.c_str(), sizes.data(), sizes.size() / 3);
  // Modules of tests that are about faults are not usable any more.
  if (status != KM_SUCCESS) std::fprintf(stderr, "%s\n", last_error_message().c_str());
}

}  // namespace km::kernels
