#include "dropin/toolchain/assembler.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <optional>

#include "base/printable.h"
#include "dropin/toolchain/container.h"
#include "dropin/toolchain/ptx_edits.h"
#include "dropin/toolchain/ptx_scanner.h"
#include "dropin/toolchain/usage.h"
#include "ptx/ptx.h"
#include "ptx/target.h"

namespace km::toolchain {
namespace {

constexpr uint32_t kUnitsOfMajor = 10;
constexpr const char* kParsedName = "ptx";  // what messages of the front end begin with

/// The lines of one assembly.
class Report {
 public:
  Report(std::string name, const AssemblerOptions& options)
      : name_(std::move(name)), options_(options) {}

  [[gnu::format(printf, 2, 3)]] void fatal(const char* format, ...);
  [[gnu::format(printf, 2, 3)]] void info(const char* format, ...);
  [[gnu::format(printf, 2, 3)]] void warning(const char* format, ...);
  void at_line(uint32_t line, const char* kind, const std::string& text) {
    errors_ += printable("ptxas " + name_ + ", line " + std::to_string(line) + "; " + kind + text);
    errors_ += '\n';
  }
  void aborted() { fatal("Ptx assembly aborted due to errors"); }

  const std::string& name() const { return name_; }
  const std::string& errors() const { return errors_; }
  const std::string& infos() const { return infos_; }
  bool has_failed() const { return has_failed_; }

 private:
  static std::string formatted(const char* format, va_list arguments);

  std::string name_;
  const AssemblerOptions& options_;
  std::string errors_, infos_;
  bool has_failed_ = false;
};

std::string Report::formatted(const char* format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, again);
  va_end(again);
  std::string text(static_cast<size_t>(std::max(length, 0)) + 1, '\0');
  std::vsnprintf(text.data(), text.size(), format, arguments);
  text.back() = '\n';
  return printable(text);
}

void Report::fatal(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  errors_ += "ptxas fatal   : " + formatted(format, arguments);
  va_end(arguments);
  has_failed_ = true;
}

void Report::info(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  infos_ += formatted(format, arguments);
  va_end(arguments);
}

void Report::warning(const char* format, ...) {
  if (!options_.has_warnings) return;
  va_list arguments;
  va_start(arguments, format);
  const std::string text = formatted(format, arguments);
  va_end(arguments);
  if (options_.warnings_are_errors) {
    errors_ += "ptxas error   : " + text;
    has_failed_ = true;
  } else {
    infos_ += "ptxas warning : " + text;
  }
}

/// The first directives of a text, with their lines; a line of 0: it is not there.
struct Header {
  uint32_t version_line = 0, target_line = 0;
  std::string version, target;
};

std::string_view first_word(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, std::min(text.find_first_of(" \t\r,/"), text.size()));
}

Header read_header(std::string_view text) {
  Header header;
  Scanner scanner(text);
  uint32_t line = 1;
  while (!scanner.at_end()) {
    const std::string_view piece = scanner.next();
    line += static_cast<uint32_t>(std::count(piece.begin(), piece.end(), '\n'));
    if (is_blank(piece)) continue;
    if (piece == ".version" && header.version_line == 0) {
      header.version_line = line;
      header.version = first_word(scanner.rest_of_line());
    } else if (piece == ".target" && header.version_line != 0) {
      header.target_line = line;
      header.target = first_word(scanner.rest_of_line());
      return header;
    } else {
      return header;
    }
  }
  return header;
}

bool is_supported_version(const std::string& text) {
  uint32_t major = 0, minor = 0;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, major);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '.') return false;
  const auto second = std::from_chars(first.ptr + 1, end, minor);
  return second.ec == std::errc() && second.ptr == end && minor < kUnitsOfMajor &&
         ptx::is_isa_version(major * kUnitsOfMajor + minor);
}

/// Checks what a text begins with. Its messages are the assembler's to the letter: programs read
/// the newest version from the one about versions.
AssemblyStatus check_header(const Header& header, const AssemblerOptions& options, Report& report) {
  if (header.version_line == 0) {
    report.at_line(
        1, "fatal   : ", "Missing .version directive at start of file '" + report.name() + "'");
    report.aborted();
    return AssemblyStatus::kFailed;
  }
  if (!is_supported_version(header.version)) {
    const uint32_t newest = options.release.isa_version();
    report.at_line(header.version_line, "fatal   : ",
                   "Unsupported .version " + header.version + "; current version is '" +
                       std::to_string(newest / kUnitsOfMajor) + "." +
                       std::to_string(newest % kUnitsOfMajor) + "'");
    report.aborted();
    return AssemblyStatus::kUnsupportedVersion;
  }
  if (header.target_line != 0 && !ptx::find_target(header.target)) {
    report.at_line(header.target_line, "fatal   : ", "Unsupported .target '" + header.target + "'");
    report.aborted();
    return AssemblyStatus::kFailed;
  }
  return AssemblyStatus::kDone;
}

/// Repeats an error of the front end ("ptx:12:3: text") as the assembler's.
void report_error(const Error& error, Report& report) {
  std::string_view text = error.message;
  uint32_t line = 0, column = 0;
  const std::string prefix = std::string(kParsedName) + ":";
  if (text.starts_with(prefix)) {
    const char* const end = text.data() + text.size();
    const auto first = std::from_chars(text.data() + prefix.size(), end, line);
    const bool has_column = first.ec == std::errc() && first.ptr != end && *first.ptr == ':';
    const char* rest = text.data() + prefix.size();
    if (has_column) {
      const auto second = std::from_chars(first.ptr + 1, end, column);
      rest = second.ptr != end && *second.ptr == ':' ? second.ptr + 1 : first.ptr + 1;
    }
    text = {rest, static_cast<size_t>(end - rest)};
    if (text.starts_with(" ")) text.remove_prefix(1);
  }
  report.at_line(std::max(line, 1u), "error   : ", std::string(text));
  report.aborted();
}

/// Checks that the module's target can be compiled for the GPU.
bool check_target(const std::string& module_target, const std::string& gpu, Report& report) {
  const auto from = ptx::find_target(module_target), to = ptx::find_target(gpu);
  if (!from || !to) return true;
  if (from->number > to->number) {
    report.fatal("SM version specified by .target is higher than default SM version assumed");
    return false;
  }
  const bool fits = ptx::runs_on(*from, to->number);
  if (!fits) {
    report.fatal("PTX with .target '%s' cannot be compiled to architecture '%s'",
                 module_target.c_str(), gpu.c_str());
  }
  return fits;
}

bool check_symbols(const ptx::Module& module, const AssemblerOptions& options, Report& report) {
  for (const std::string& entry : options.entries) {
    const ptx::Function* const function = module.find_function(entry);
    if (function != nullptr && function->is_entry) continue;
    report.fatal("Unknown function %s", entry.c_str());
    return false;
  }
  if (options.is_relocatable) return true;
  const Unresolved unresolved = find_unresolved(module);
  for (const std::string& name : unresolved.functions) {
    report.fatal("Unresolved extern function '%s'", name.c_str());
  }
  for (const std::string& name : unresolved.variables) {
    report.warning(
        "Unresolved extern variable '%s' in whole program compilation, ignoring extern "
        "qualifier",
        name.c_str());
  }
  return unresolved.functions.empty();
}

void report_usage(const ptx::Module& module, const AssemblerOptions& options, double time_ms,
                  Report& report) {
  const ModuleUsage usage = measure(module);
  for (const FunctionUsage& each : usage.functions) {
    if (options.warns_of_local_memory && each.stack_bytes != 0) {
      report.warning("Local memory used for function '%s', size: %llu", each.name.c_str(),
                     static_cast<unsigned long long>(each.stack_bytes));
    }
  }
  if (!options.is_verbose) return;
  const auto number = [](uint64_t value) { return static_cast<unsigned long long>(value); };
  std::string constants;
  if (usage.constant_bytes != 0) {
    constants = ", " + std::to_string(usage.constant_bytes) + " bytes cmem[3]";
  }
  report.info("ptxas info    : %llu bytes gmem%s", number(usage.global_bytes), constants.c_str());
  for (const FunctionUsage& each : usage.functions) {
    if (!each.is_entry && !options.is_relocatable) continue;
    if (each.is_entry) {
      report.info("ptxas info    : Compiling entry function '%s' for '%s'", each.name.c_str(),
                  options.gpu_name.c_str());
    }
    // Values that a GPU would spill stay where they are: a CPU has memory for all registers.
    report.info("ptxas info    : Function properties for %s", each.name.c_str());
    report.info("    %llu bytes stack frame, 0 bytes spill stores, 0 bytes spill loads",
                number(each.stack_bytes));
    if (!each.is_entry) continue;
    std::string shared;
    if (each.shared_bytes != 0) shared = ", " + std::to_string(each.shared_bytes) + " bytes smem";
    report.info("ptxas info    : Used %u registers, used %u barriers%s, %llu bytes cmem[0]",
                each.registers, each.barriers, shared.c_str(), number(each.parameter_bytes));
  }
  report.info("ptxas info    : Compile time = %.3f ms", time_ms);
}

/// Checks the architecture's name; `is_virtual` tells whether code is made at all.
bool check_gpu(const AssemblerOptions& options, bool* is_virtual, Report& report) {
  const std::string& name = options.gpu_name;
  *is_virtual = name.starts_with("compute_");
  const bool is_lto = name.starts_with("lto_");
  const auto target = ptx::find_target(is_lto ? "sm_" + name.substr(4) : name);
  if (!target) {
    report.fatal("Value '%s' is not defined for option 'gpu-name'", name.c_str());
  } else if (is_lto) {
    report.fatal(
        "'%s' asks for code for link-time optimisation, which only NVIDIA's compiler "
        "makes: give sm_%u",
        name.c_str(), unsigned{target->number});
  }
  return target && !is_lto;
}

AssemblyStatus run(std::string_view text, const AssemblerOptions& options, Report& report,
                   Assembly* made) {
  const auto begin = std::chrono::steady_clock::now();
  bool is_virtual = false;
  if (!check_gpu(options, &is_virtual, report)) return AssemblyStatus::kFailed;
  if (is_link_time_code(text)) {
    report.fatal(
        "'%s' is code for link-time optimisation (LTO-IR), which only NVIDIA's libraries "
        "compile: give PTX",
        report.name().c_str());
    return AssemblyStatus::kFailed;
  }
  text = text.substr(0, std::min(text.find('\0'), text.size()));
  const Header header = read_header(text);
  if (const auto status = check_header(header, options, report); status != AssemblyStatus::kDone) {
    return status;
  }
  if (!check_target(header.target, options.gpu_name, report)) return AssemblyStatus::kFailed;
  const std::string limited = limit_registers(std::string(text), options.max_registers);
  const auto module = ptx::parse(limited, kParsedName);
  if (!module) {
    report_error(module.error(), report);
    return AssemblyStatus::kFailed;
  }
  if (!check_symbols(**module, options, report)) return AssemblyStatus::kFailed;
  if (is_virtual) return AssemblyStatus::kParsedOnly;
  const auto target = ptx::find_target(options.gpu_name);
  ContainerTraits traits;
  traits.capability = target->number;
  traits.is_accelerated = target->suffix != 0;
  traits.is_relocatable = options.is_relocatable;
  made->image = write_container(**module, limited, traits);
  made->module = *module;
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
  report_usage(**module, options, time.count(), report);
  return report.has_failed() ? AssemblyStatus::kFailed : AssemblyStatus::kDone;
}

}  // namespace

bool is_link_time_code(std::string_view bytes) {
  return bytes.starts_with("\xED\x43\x4E\x7F") || bytes.starts_with("BC\xC0\xDE");
}

Assembly assemble(std::string_view text, const std::string& name, const AssemblerOptions& options) {
  Report report(name, options);
  Assembly made;
  made.status = run(text, options, report, &made);
  if (made.status != AssemblyStatus::kDone) made.image.clear();
  made.info = report.infos();
  made.errors = report.errors();
  return made;
}

}  // namespace km::toolchain
