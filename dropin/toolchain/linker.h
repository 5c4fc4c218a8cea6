// Links PTX of all forms in which programs hand it to NVIDIA's linkers, into one container.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dropin/toolchain/assembler.h"
#include "dropin/toolchain/ptx_link.h"

namespace km::toolchain {

enum class InputKind : uint8_t {
  kAny,  // found by its content
  kCubin,
  kPtx,
  kLinkTimeCode,
  kFatbin,
  kObject,
  kLibrary,
};

enum class InputStatus : uint8_t {
  kAdded,
  kWrongKind,     // the bytes are not of the kind
  kUnknownKind,   // of kAny: the bytes are of no kind
  kLinkTimeCode,  // LTO-IR
  kMachineCode,   // of a GPU alone
  kDamaged,
  kAssemblyFailed,
  kUnsupportedVersion,
};

/// The kind of bytes; kAny if they are of none.
InputKind kind_of(std::string_view bytes);

class Linker {
 public:
  /// The options hold for all inputs. is_relocatable: names may stay without a definition.
  explicit Linker(AssemblerOptions options) : options_(std::move(options)) {}

  /// Verifies and adds an input. Reasons of failures are appended to the logs.
  InputStatus add(InputKind kind, std::string_view bytes, const std::string& name);
  /// Links what was added; no input gives an empty module. Without a container it has failed, and
  /// the error log says why, in nvlink's words.
  std::string link();

  /// Appends a line to the error log.
  void note_error(const std::string& line) { errors_ += line + "\n"; }

  bool is_empty() const { return inputs_.empty(); }
  const std::string& errors() const { return errors_; }
  const std::string& infos() const { return infos_; }

 private:
  struct Input {
    PtxInput text;
    std::shared_ptr<const ptx::Module> module;
  };

  InputStatus add_text(std::string_view text, const std::string& name);
  InputStatus add_fatbins(const std::vector<std::string_view>& fatbins, const std::string& name);
  InputStatus fail(InputStatus status, const std::string& message);
  bool find_undefined();

  AssemblerOptions options_;
  std::vector<Input> inputs_;
  std::string errors_, infos_;
};

}  // namespace km::toolchain
