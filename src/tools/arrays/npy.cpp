#include "tools/arrays/npy.h"

#include <charconv>
#include <cstring>

#include "base/file/file_writer.h"
#include "tools/error.h"
#include "tools/files.h"

namespace km::tools {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kAlignment = 64;

struct Descriptor {
  ElementType type;
  const char* text;  // NumPy's spelling
};
constexpr Descriptor kDescriptors[] = {
    {ElementType::kI8, "|i1"},  {ElementType::kU8, "|u1"},   {ElementType::kI16, "<i2"},
    {ElementType::kU16, "<u2"}, {ElementType::kI32, "<i4"},  {ElementType::kU32, "<u4"},
    {ElementType::kI64, "<i8"}, {ElementType::kU64, "<u8"},  {ElementType::kF32, "<f4"},
    {ElementType::kF64, "<f8"}, {ElementType::kF16, "<f2"},  {ElementType::kBf16, "<V2"},
    {ElementType::kU8, "|b1"},  {ElementType::kBf16, "|V2"},
};

/// The text after `'key':` in the header's dictionary, without leading spaces.
std::string_view value_of(std::string_view header, std::string_view key) {
  const size_t found = header.find("'" + std::string(key) + "':");
  if (found == std::string_view::npos) return {};
  header.remove_prefix(found + key.size() + 3);
  header.remove_prefix(std::min(header.find_first_not_of(' '), header.size()));
  return header;
}

std::optional<ElementType> parse_descriptor(std::string_view header) {
  const std::string_view value = value_of(header, "descr");
  for (const Descriptor& descriptor : kDescriptors) {
    const std::string_view text = descriptor.text;
    if (value.size() > 5 && value.substr(1, 3) == text && value[4] == value[0]) {
      return descriptor.type;
    }
  }
  return std::nullopt;
}

/// Parses "(3, 4)", "(3,)", "()".
std::optional<std::vector<uint64_t>> parse_shape(std::string_view header) {
  std::string_view value = value_of(header, "shape");
  const size_t end = value.find(')');
  if (value.empty() || value[0] != '(' || end == std::string_view::npos) return std::nullopt;
  value = value.substr(1, end - 1);
  std::vector<uint64_t> shape;
  while (true) {
    value.remove_prefix(std::min(value.find_first_not_of(", "), value.size()));
    if (value.empty()) return shape;
    uint64_t extent = 0;
    const auto [stop, code] = std::from_chars(value.data(), value.data() + value.size(), extent);
    if (code != std::errc()) return std::nullopt;
    shape.push_back(extent);
    value.remove_prefix(static_cast<size_t>(stop - value.data()));
  }
}

/// Converts elements from column-major to row-major order.
std::vector<std::byte> to_rows(const std::vector<std::byte>& columns,
                               const std::vector<uint64_t>& shape, uint64_t size) {
  std::vector<std::byte> rows(columns.size());
  std::vector<uint64_t> index(shape.size());
  for (uint64_t from = 0; from < columns.size(); from += size) {
    uint64_t to = 0;
    for (size_t i = 0; i < shape.size(); ++i) to = to * shape[i] + index[i];
    std::memcpy(rows.data() + to * size, columns.data() + from, size);
    for (size_t i = 0; i < shape.size() && ++index[i] == shape[i]; ++i) index[i] = 0;
  }
  return rows;
}

struct Layout {
  std::string_view header;
  size_t data_offset;
};

std::optional<Layout> find_header(std::string_view file) {
  if (!file.starts_with(kMagic) || file.size() < 12) return std::nullopt;
  const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<uint8_t>(file[i])); };
  const bool is_short = byte(6) == 1;  // the major version of the format
  if (byte(6) < 1 || byte(6) > 3) return std::nullopt;
  size_t length = byte(8) | byte(9) << 8;
  if (!is_short) length |= byte(10) << 16 | byte(11) << 24;
  const size_t start = is_short ? 10 : 12;
  if (length > file.size() - start) return std::nullopt;
  return Layout{file.substr(start, length), start + length};
}

}  // namespace

Result<Array> read_npy(const std::string& path) {
  KM_ASSIGN(const std::string file, read_named_file(path, max_array_bytes()));
  const std::optional<Layout> layout = find_header(file);
  if (!layout) return file_error(path, "not a .npy file");
  const std::optional<ElementType> type = parse_descriptor(layout->header);
  if (!type) {
    const std::string_view given = value_of(layout->header, "descr");
    return file_error(path, "its element type is " +
                                std::string(given.substr(0, given.find_first_of(",}"))) +
                                ", not one of " + element_type_names() +
                                " (little-endian); convert it with numpy's astype()");
  }
  std::optional<std::vector<uint64_t>> shape = parse_shape(layout->header);
  if (!shape) return file_error(path, "its header has no shape");
  // The size is checked before the allocation, because the header may claim any size.
  const Result<uint64_t> size = array_bytes(*type, *shape);
  if (!size) return file_error(path, size.error().message);
  const uint64_t held = file.size() - layout->data_offset;
  if (held != *size) {
    return file_error(path, "it holds " + std::to_string(held) +
                                " bytes of data; its header promises " + std::to_string(*size));
  }
  KM_ASSIGN(Array array, make_array(*type, std::move(*shape)));
  std::memcpy(array.bytes.data(), file.data() + layout->data_offset, array.bytes.size());
  if (value_of(layout->header, "fortran_order").starts_with("True")) {
    array.bytes = to_rows(array.bytes, array.shape, element_size(array.type));
  }
  return array;
}

Status write_npy(const std::string& path, const Array& array) {
  const char* descriptor = "";
  for (const Descriptor& candidate : kDescriptors) {
    if (candidate.type == array.type && *descriptor == '\0') descriptor = candidate.text;
  }
  std::string header =
      "{'descr': '" + std::string(descriptor) + "', 'fortran_order': False, 'shape': (";
  for (const uint64_t extent : array.shape) header += std::to_string(extent) + ", ";
  header += "), }";
  const size_t unpadded = kMagic.size() + 4 + header.size() + 1;
  header.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
  header += '\n';
  const char sizes[] = {'\1', '\0', static_cast<char>(header.size() & 0xff),
                        static_cast<char>(header.size() >> 8)};
  KM_ASSIGN(FileWriter file, FileWriter::open(path));
  file.write(kMagic);
  file.write({sizes, sizeof sizes});
  file.write(header);
  file.write({reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size()});
  return file.commit();
}

}  // namespace km::tools
