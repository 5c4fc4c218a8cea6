#include "dropin/cuda/module/callback_kernels.h"

#include <map>
#include <utility>

#include "dropin/library/callback_arguments.h"
#include "ptx/ptx.h"

namespace km::dropin {
namespace {

constexpr std::string_view kPrefix = library::kCallbackKernelPrefix;
using Arguments = library::CallbackArguments;

constexpr std::string_view kSpaces = " \t\r\n";

/// A type of callback: what it loads or stores. The order is that of cufftXtCallbackType.
struct CallbackType {
  bool is_store, is_complex;
  unsigned part_bytes;
  unsigned size_bytes() const { return is_complex ? 2 * part_bytes : part_bytes; }
};
constexpr CallbackType kTypes[] = {{false, true, 4},  {false, true, 8}, {false, false, 4},
                                   {false, false, 8}, {true, true, 4},  {true, true, 8},
                                   {true, false, 4},  {true, false, 8}};

std::string text_of(uint64_t number) { return std::to_string(number); }

/// The declaration of a parameter or result that holds a number.
std::string value_declaration(const CallbackType& type, const char* name) {
  const std::string bytes = text_of(type.size_bytes()), bits = text_of(8 * type.size_bytes());
  if (!type.is_complex) return ".param .b" + bits + " " + name;
  return ".param .align " + bytes + " .b8 " + name + "[" + bytes + "]";
}

/// Loads a word of the kernel's parameter.
std::string load_text(const char* into, size_t offset) {
  return std::string("ld.param.u64 ") + into + ", [p+" + text_of(offset) + "];\n";
}

/// Computes %d2, the place of the number of thread %d0.
std::string place_text() {
  std::string text =
      "mov.u32 %r0, %ctaid.x;\nmov.u32 %r1, %ntid.x;\nmov.u32 %r2, %tid.x;\n"
      "mul.wide.u32 %d0, %r0, %r1;\ncvt.u64.u32 %d1, %r2;\nadd.u64 %d0, %d0, %d1;\n";
  text += load_text("%d1", offsetof(Arguments, count)) +
          "setp.ge.u64 %q0, %d0, %d1;\n@%q0 bra done;\nmov.u64 %d2, 0;\n";
  for (int axis = Arguments::kMostAxes; axis-- > 0;) {
    text += load_text("%d3", offsetof(Arguments, lengths) + axis * sizeof(uint64_t));
    text += "div.u64 %d4, %d0, %d3;\nmul.lo.u64 %d5, %d4, %d3;\nsub.u64 %d5, %d0, %d5;\n";
    text += load_text("%d6", offsetof(Arguments, steps) + axis * sizeof(uint64_t));
    text += "mad.lo.u64 %d2, %d5, %d6, %d2;\nmov.u64 %d0, %d4;\n";
  }
  return text;
}

/// Calls the function for the number at %d2 of the array, and at %d11 of the numbers.
std::string call_text(const CallbackType& type) {
  const std::string registers = type.is_complex ? "{%v0, %v1}" : "%v0";
  const std::string move = (type.is_complex ? ".v2.b" : ".b") + text_of(8 * type.part_bytes) + " ";
  std::string text = "{\n.param .b64 a;\n.param .b64 b;\n.param .b64 c;\n.param .b64 e;\n" +
                     value_declaration(type, "value") +
                     ";\nst.param.b64 [a], %d9;\nst.param.b64 [b], %d2;\n"
                     "st.param.b64 [c], %d10;\nst.param.b64 [e], %d7;\n";
  if (type.is_store) {
    text += "ld" + move + registers + ", [%d11];\nst.param" + move + "[value], " + registers +
            ";\ncall %d8, (a, b, value, c, e), type;\n";
  } else {
    text += "call (value), %d8, (a, b, c, e), type;\nld.param" + move + registers +
            ", [value];\nst" + move + "[%d11], " + registers + ";\n";
  }
  return text + "}\n";
}

/// The kernel of a type.
std::string kernel_text(int index) {
  const CallbackType& type = kTypes[index];
  const std::string prefix(kPrefix), word = ".param .b64 _", words = word + ", " + word;
  std::string text = ".visible .entry " + prefix + text_of(index) + "(.param .align 8 .b8 p[" +
                     text_of(sizeof(Arguments)) +
                     "])\n{\n.reg .pred %q<1>;\n.reg .b32 %r<3>;\n.reg .b64 %d<12>;\n.reg .b" +
                     text_of(8 * type.part_bytes) + " %v<2>;\n";
  text += type.is_store ? "type: .callprototype _ (" + words + ", " + value_declaration(type, "_") +
                              ", " + words + ");\n"
                        : "type: .callprototype (" + value_declaration(type, "_") + ") _ (" +
                              words + ", " + words + ");\n";
  text += place_text() + "mov.u64 %d7, " + prefix + "shared;\ncvta.shared.u64 %d7, %d7;\n";
  text += load_text("%d8", offsetof(Arguments, function));
  text += load_text("%d9", offsetof(Arguments, array));
  text += load_text("%d10", offsetof(Arguments, caller_info));
  text += load_text("%d11", offsetof(Arguments, numbers));
  text += "mad.lo.u64 %d11, %d2, " + text_of(type.size_bytes()) + ", %d11;\n";
  return text + call_text(type) + "done:\nret;\n}\n";
}

/// All of the kernels; the shared memory is that of cufftXtSetCallbackSharedSize.
const std::string& all_kernels() {
  static const std::string text = [] {
    std::string made = "\n.extern .shared .align 16 .b8 " + std::string(kPrefix) + "shared[];\n";
    for (int i = 0; i < static_cast<int>(std::size(kTypes)); ++i) made += kernel_text(i);
    return made;
  }();
  return text;
}

std::string without_spaces(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (kSpaces.find(c) == kSpaces.npos) result += c;
  }
  return result;
}

/// A function's head, between `.func` and its body.
struct FunctionHead {
  std::string_view result, name, parameters;
};

/// Splits `(result) name (parameters)`; false if the text is no such head.
bool split_head(std::string_view text, FunctionHead* out) {
  size_t at = text.find_first_not_of(kSpaces);
  if (at == text.npos) return false;
  if (text[at] == '(') {
    const size_t end = text.find(')', at);
    if (end == text.npos) return false;
    out->result = text.substr(at + 1, end - at - 1);
    at = text.find_first_not_of(kSpaces, end + 1);
    if (at == text.npos) return false;
  }
  const size_t open = text.find('(', at);
  if (open == text.npos) return false;
  out->name = text.substr(at, open - at);
  out->name = out->name.substr(0, out->name.find_last_not_of(kSpaces) + 1);
  const size_t end = text.find(')', open);
  if (end == text.npos) return false;
  out->parameters = text.substr(open + 1, end - open - 1);
  return true;
}

/// True for `.param .b64 name`, `.param .u64 name` and the like.
bool is_word(std::string_view parameter) {
  const std::string text = without_spaces(parameter);
  for (const char* const type : {".param.b64", ".param.u64", ".param.s64"}) {
    if (text.starts_with(type) && text.find('[') == text.npos) return true;
  }
  return false;
}

/// True for a parameter or a result that holds one of the numbers.
bool is_value(std::string_view parameter) {
  const std::string text = without_spaces(parameter);
  if (text.ends_with("[8]") || text.ends_with("[16]")) return text.starts_with(".param.align");
  for (const char* const type : {".param.b32", ".param.f32", ".param.b64", ".param.f64"}) {
    if (text.starts_with(type)) return true;
  }
  return false;
}

/// The parts between commas.
std::vector<std::string_view> parts_of(std::string_view list) {
  std::vector<std::string_view> parts;
  for (size_t comma = list.find(','); comma != list.npos; comma = list.find(',')) {
    parts.push_back(list.substr(0, comma));
    list.remove_prefix(comma + 1);
  }
  parts.push_back(list);
  return parts;
}

bool is_callback(const FunctionHead& head) {
  const std::vector<std::string_view> parameters = parts_of(head.parameters);
  const bool is_store = without_spaces(head.result).empty();
  if (parameters.size() != (is_store ? 5 : 4)) return false;
  constexpr size_t kStored = 2;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const bool suits = is_store && i == kStored ? is_value(parameters[i]) : is_word(parameters[i]);
    if (!suits) return false;
  }
  return is_store || is_value(head.result);
}

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%';
}

/// True if the name stands where its address is taken: what follows is no list of parameters or
/// arguments.
bool takes_address(std::string_view ptx, std::string_view name) {
  for (size_t at = ptx.find(name); at != ptx.npos; at = ptx.find(name, at + 1)) {
    const size_t end = at + name.size();
    if (at == 0 || is_name_character(ptx[at - 1])) continue;
    if (end < ptx.size() && is_name_character(ptx[end])) continue;
    size_t next = ptx.find_first_not_of(kSpaces, end);
    if (next == ptx.npos) return false;
    if (ptx[next] == ';' || ptx[next] == '}') return true;
    if (ptx[next] != ',') continue;
    next = ptx.find_first_not_of(kSpaces, next + 1);
    if (next != ptx.npos && ptx[next] != '(') return true;
  }
  return false;
}

/// The callback types of a module's functions, by number: a bit for each type that fits. An address
/// is 16 for function 0, 32 for function 1 and so on.
using FittingTypes = std::vector<uint32_t>;
constexpr uint64_t kAddressStep = 16;

uint64_t bytes_of(const ptx::Function& function, ptx::SymbolId symbol) {
  return function.symbols[symbol].size_bytes;
}

uint32_t fitting_types(const ptx::Function& function) {
  uint32_t fitting = 0;
  const bool has_body = !function.is_entry && !function.is_declaration;
  for (int i = 0; has_body && i < static_cast<int>(std::size(kTypes)); ++i) {
    const CallbackType& type = kTypes[i];
    const size_t parameters = type.is_store ? 5 : 4, results = type.is_store ? 0 : 1;
    if (function.params.size() != parameters || function.returns.size() != results) continue;
    const uint64_t value =
        bytes_of(function, type.is_store ? function.params[2] : function.returns[0]);
    if (value == type.size_bytes()) fitting |= 1U << i;
  }
  return fitting;
}

FittingTypes find_types(const std::string& text) {
  FittingTypes types;
  const auto parsed = ptx::parse(text, "module");
  if (!parsed) return types;
  for (const ptx::Function& each : (*parsed)->functions) types.push_back(fitting_types(each));
  return types;
}

/// The loaded modules with callbacks, by their handles' numbers.
class CallbackModules {
 public:
  void add(uint64_t id, std::string_view text) {
    const std::lock_guard lock(mutex_);
    known_[id].text = text;
  }
  void remove(uint64_t id) {
    const std::lock_guard lock(mutex_);
    known_.erase(id);
  }
  /// The modules that have a function for the type at the address.
  std::vector<uint64_t> find(uint64_t address, int type) {
    std::vector<uint64_t> found;
    if (address % kAddressStep != 0 || address == 0) return found;
    const uint64_t function = address / kAddressStep - 1;
    const std::lock_guard lock(mutex_);
    for (auto& [id, entry] : known_) {
      if (!entry.text.empty()) entry.types = find_types(std::exchange(entry.text, {}));
      const bool fits = function < entry.types.size() && (entry.types[function] >> type & 1) != 0;
      if (fits) found.push_back(id);
    }
    return found;
  }

 private:
  struct Entry {
    std::string text;  // empty once the types are known
    FittingTypes types;
  };
  std::mutex mutex_;  // guards the members below
  std::map<uint64_t, Entry> known_;
};

/// The modules are never destroyed, because other threads may make calls during exit.
CallbackModules& callback_modules() {
  static CallbackModules& made = *new CallbackModules;
  return made;
}

}  // namespace

std::string callback_kernels_for(std::string_view ptx) {
  constexpr std::string_view kFunction = ".func";
  for (size_t at = ptx.find(kFunction); at != ptx.npos; at = ptx.find(kFunction, at + 1)) {
    FunctionHead head;
    const std::string_view rest = ptx.substr(at + kFunction.size());
    if (!split_head(rest.substr(0, rest.find_first_of("{;")), &head)) continue;
    if (is_callback(head) && takes_address(ptx, head.name)) return all_kernels();
  }
  return {};
}

bool is_callback_kernel(std::string_view name) { return name.starts_with(kPrefix); }

void note_callbacks(Module& module, std::string_view ptx) {
  callback_modules().add(module.id(), ptx);
}

void forget_callbacks_of(uint64_t module) { callback_modules().remove(module); }

CUresult find_callback_kernel(Context& context, uint64_t function, int type, Ref<Function>* out) {
  Ref<Module> found;
  for (const uint64_t id : callback_modules().find(function, type)) {
    const Pin<Module> module(reinterpret_cast<CUmodule>(id));
    if (!module || &module->context() != &context) continue;
    if (found) {
      return fail(CUDA_ERROR_INVALID_VALUE,
                  "two loaded modules have a callback of type %d at 0x%llx: link their code into "
                  "one module (nvcc -rdc=true), or unload one",
                  type, static_cast<unsigned long long>(function));
    }
    found = Ref<Module>::share(*module);
  }
  if (!found) {
    return fail(CUDA_ERROR_INVALID_VALUE,
                "no module of the context has a callback of type %d at 0x%llx: copy the address "
                "from a __device__ variable that holds a function with the parameters of the type",
                type, static_cast<unsigned long long>(function));
  }
  return found->function(std::string(kPrefix) + std::to_string(type), out);
}

}  // namespace km::dropin
