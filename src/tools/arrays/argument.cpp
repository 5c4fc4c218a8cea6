#include "tools/arrays/argument.h"

#include <charconv>

#include "base/text.h"
#include "tools/error.h"
#include "tools/files.h"

namespace km::tools {
namespace {

using Arguments = std::vector<Argument>;

constexpr const char* kKinds = "in:, out:, inout:, zeros:, print:, or a typed number such as i32:5";

std::optional<uint64_t> parse_count(std::string_view text) {
  uint64_t value = 0;
  const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The array of "@K" in `text`, which ends at a dot or at the end.
Result<const Array*> referenced(const std::string& text, const Arguments& before) {
  const size_t point = std::min(text.find('.'), text.size());
  const auto index = parse_count(std::string_view(text).substr(1, point - 1));
  if (!index) return usage_error("'" + text + "': expected @K, K the number of an argument");
  if (*index >= before.size() || !before[*index].is_buffer) {
    return usage_error("'" + text + "': argument " + std::to_string(*index) +
                       " is not an array that stands before this one (arguments count from 0)");
  }
  return &before[*index].array;
}

Result<uint64_t> reference_value(const std::string& text, const Arguments& before) {
  KM_ASSIGN(const Array* const array, referenced(text, before));
  const size_t point = text.find('.');
  const std::string field = point == std::string::npos ? "" : text.substr(point + 1);
  if (field == "count") return array->element_count();
  if (field == "bytes") return uint64_t{array->bytes.size()};
  size_t dimension = array->shape.size();
  if (field == "height") dimension = 0;
  if (field == "width") dimension = 1;
  if (field == "channels") {
    if (array->shape.size() == 2) return uint64_t{1};
    dimension = 2;
  }
  if (field.size() == 4 && field.starts_with("dim")) {
    dimension = parse_count(field.substr(3)).value_or(dimension);
  }
  if (dimension < array->shape.size()) return array->shape[dimension];
  return usage_error("'" + text +
                     "': expected .count, .bytes, .width, .height, .channels or .dim0 "
                     "to .dim" +
                     std::to_string(std::max<size_t>(array->shape.size(), 1) - 1) +
                     " of an array with " + counted(array->shape.size(), "dimension"));
}

Result<std::vector<uint64_t>> parse_extents(const std::string& text, char separator,
                                            const Arguments& before) {
  std::vector<uint64_t> extents;
  for (const std::string& part : split(text, separator)) {
    if (part.starts_with("@")) {
      KM_ASSIGN(const uint64_t extent, reference_value(part, before));
      extents.push_back(extent);
    } else if (const auto extent = parse_count(part)) {
      extents.push_back(*extent);
    } else {
      return usage_error("'" + part + "' is not an extent; expected a count or @K.width and so on");
    }
  }
  return extents;
}

bool is_image_shape(const std::string& text) {
  return text.find('x') != std::string::npos &&
         text.find_first_not_of("0123456789x") == std::string::npos;
}

/// A zeroed array of SHAPE.
Result<Array> parse_shape(const std::string& text, const Arguments& before) {
  const size_t bracket = text.find('[');
  if (bracket == std::string::npos && text.starts_with("@")) {
    if (text.find('.') != std::string::npos) {
      return usage_error("'" + text + "' is a number; a shape is @K alone or TYPE[" + text + "]");
    }
    KM_ASSIGN(const Array* const like, referenced(text, before));
    return make_array(like->type, like->shape);
  }
  if (is_image_shape(text)) {
    KM_ASSIGN(const std::vector<uint64_t> extents, parse_extents(text, 'x', before));
    if (extents.size() != 3) return usage_error("'" + text + "': an image is WxHxC");
    return make_array(ElementType::kU8, {extents[1], extents[0], extents[2]});
  }
  const auto type = element_type(text.substr(0, bracket));
  if (!type || bracket == std::string::npos || !text.ends_with("]")) {
    return usage_error("'" + text + "' is not a shape; expected TYPE[N,...] (" +
                       element_type_names() + "), WxHxC or @K");
  }
  const std::string inside = text.substr(bracket + 1, text.size() - bracket - 2);
  KM_ASSIGN(std::vector<uint64_t> extents, parse_extents(inside, ',', before));
  return make_array(*type, std::move(extents));
}

Status parse_scalar(ElementType type, const std::string& values, const Arguments& before,
                    Argument& out) {
  out.scalar_type = type;
  for (const std::string& value : split(values, ',')) {
    std::string number = value;
    if (value.starts_with("@")) {
      KM_ASSIGN(const uint64_t referred, reference_value(value, before));
      number = std::to_string(referred);
    }
    KM_TRY(append_number(type, number, out.scalar));
  }
  return {};
}

Status parse_out(const std::string& rest, const Arguments& before, Argument& out) {
  const size_t colon = rest.rfind(':');
  if (colon == std::string::npos || colon == 0) {
    return usage_error(
        "expected out:FILE:SHAPE, for example out:y.npy:f32[1024] or "
        "out:edges.png:@0");
  }
  out.output = rest.substr(0, colon);
  KM_ASSIGN(out.array, parse_shape(rest.substr(colon + 1), before));
  return check_array_file(out.output, out.array.type, out.array.shape);
}

Status parse_inout(const std::string& rest, Argument& out) {
  const size_t colon = rest.rfind(':');
  const std::string input = rest.substr(0, colon);
  out.output = colon == std::string::npos ? rest : rest.substr(colon + 1);
  KM_ASSIGN(out.array, read_array(input));
  return check_array_file(out.output, out.array.type, out.array.shape);
}

Status parse_one(const std::string& spec, const Arguments& before, Argument& out) {
  out.spec = spec;
  const size_t colon = spec.find(':');
  const std::string kind = spec.substr(0, colon);
  const std::string rest = colon == std::string::npos ? "" : spec.substr(colon + 1);
  if (rest.empty()) return usage_error(std::string("expected ") + kKinds);
  if (const auto type = element_type(kind)) return parse_scalar(*type, rest, before, out);
  out.is_buffer = true;
  if (kind == "out") return parse_out(rest, before, out);
  if (kind == "inout") return parse_inout(rest, out);
  if (kind == "in") {
    KM_ASSIGN(out.array, read_array(rest));
    return {};
  }
  if (kind == "print" || kind == "zeros") {
    out.is_shortened = kind == "print";
    if (out.is_shortened) out.output = "-";
    KM_ASSIGN(out.array, parse_shape(rest, before));
    return {};
  }
  constexpr std::string_view kWords[] = {"in",  "out", "inout", "zeros", "print", "i8",
                                         "u8",  "i16", "u16",   "i32",   "u32",   "i64",
                                         "u64", "f16", "bf16",  "f32",   "f64"};
  return usage_error("unknown kind '" + kind + "'." + suggestion(kind, kWords) + " Expected " +
                     kKinds);
}

}  // namespace

Result<std::vector<Argument>> parse_arguments(const std::vector<std::string>& specs) {
  Arguments arguments;
  for (const std::string& spec : specs) {
    Argument argument;
    if (const Status status = parse_one(spec, arguments, argument); !status) {
      return about("argument " + std::to_string(arguments.size()) + ", '" + spec + "'",
                   status.error());
    }
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

Result<std::array<uint32_t, 3>> parse_dimensions(const std::string& text, const char* what) {
  std::array<uint32_t, 3> dimensions = {1, 1, 1};
  const std::vector<std::string> parts = split(text, ',');
  bool is_good = parts.size() <= dimensions.size();
  for (size_t i = 0; is_good && i < parts.size(); ++i) {
    const auto value = parse_count(parts[i]);
    is_good = value && *value >= 1 && *value <= UINT32_MAX;
    if (is_good) dimensions[i] = static_cast<uint32_t>(*value);
  }
  if (is_good) return dimensions;
  return usage_error(std::string(what) + " '" + text +
                     "': expected X[,Y[,Z]], each at least 1, for example 32,8");
}

}  // namespace km::tools
