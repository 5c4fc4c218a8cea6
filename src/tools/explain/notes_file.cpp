#include "tools/explain/notes_file.h"

#include <unistd.h>

#include <string>
#include <utility>

#include "tools/exec/exec_program.h"

namespace km::tools {
namespace {

/// The file's name for other processes as well.
std::string path_of(const File& file) {
  return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(file.get());
}

}  // namespace

Result<NotesFile> NotesFile::create(const char* stages) {
  KM_ASSIGN(File file, create_memory_file("kernelmill-lines"));
  KM_TRY(set_variable("KM_DUMP", stages));
  KM_TRY(set_variable("KM_DUMP_FILE", path_of(file)));
  return NotesFile(std::move(file));
}

Result<std::vector<NotedKernel>> NotesFile::read() const {
  KM_ASSIGN(const std::string dump, read_file(path_of(file_)));
  return notes_of(dump);
}

}  // namespace km::tools
