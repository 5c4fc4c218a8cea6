#include "tools/wrap/dwarf.h"

#include <charconv>
#include <cstring>
#include <optional>

namespace km::tools {
namespace {

/// The bytes of a section, which PTX writes as lists of numbers and symbols. Symbols have unknown
/// addresses, so they become zeros of their size.
std::string section_bytes(std::string_view ptx, std::string_view name) {
  const std::string head = "\t.section\t" + std::string(name) + "\n";
  size_t at = ptx.find(head);
  if (at == std::string_view::npos) return {};
  at += head.size();
  const size_t end = ptx.find("\t}", at);
  std::string_view text = ptx.substr(at, end == std::string_view::npos ? end : end - at);
  std::string bytes;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    unsigned bits = 0;
    if (!line.starts_with(".b")) continue;
    const auto [stop, code] = std::from_chars(line.data() + 2, line.data() + line.size(), bits);
    if (code != std::errc() || bits > 64) continue;
    line.remove_prefix(static_cast<size_t>(stop - line.data()));
    while (!line.empty()) {
      line.remove_prefix(1);  // skips the blank or comma
      const std::string_view word = line.substr(0, line.find(','));
      line.remove_prefix(word.size());
      uint64_t value = 0;
      std::from_chars(word.data(), word.data() + word.size(), value);
      bytes.append(reinterpret_cast<const char*>(&value), bits / 8);
    }
  }
  return bytes;
}

/// Reads numbers from bytes; beyond the end they are 0, and is_good() is false.
class Cursor {
 public:
  explicit Cursor(std::string_view data) : data_(data) {}
  uint64_t offset() const { return offset_; }
  bool is_good() const { return is_good_; }
  bool at_end() const { return offset_ >= data_.size(); }

  uint64_t fixed(size_t size) {
    uint64_t value = 0;
    if (!has(size)) return 0;
    std::memcpy(&value, data_.data() + offset_, size);
    offset_ += size;
    return value;
  }
  uint64_t uleb() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const uint64_t byte = fixed(1);
      value |= (byte & 0x7F) << shift;
      if ((byte & 0x80) == 0) break;
    }
    return value;
  }
  std::string text() {
    const size_t end = data_.find('\0', offset_);
    if (end == std::string_view::npos) {
      is_good_ = false;
      return {};
    }
    std::string value(data_.substr(offset_, end - offset_));
    offset_ = end + 1;
    return value;
  }
  std::string_view block(uint64_t size) {
    if (!has(size)) return {};
    offset_ += size;
    return data_.substr(offset_ - size, size);
  }

 private:
  bool has(uint64_t size) {
    is_good_ = is_good_ && offset_ <= data_.size() && size <= data_.size() - offset_;
    return is_good_;
  }

  std::string_view data_;
  uint64_t offset_ = 0;
  bool is_good_ = true;
};

struct Attribute {
  uint64_t name = 0, form = 0;
};
struct Abbreviation {
  uint64_t tag = 0;
  bool has_children = false;
  std::vector<Attribute> attributes;
};
using Abbreviations = std::map<uint64_t, Abbreviation>;

Abbreviations read_abbreviations(std::string_view bytes) {
  Abbreviations found;
  Cursor cursor(bytes);
  while (cursor.is_good() && !cursor.at_end()) {
    const uint64_t code = cursor.uleb();
    if (code == 0) break;
    Abbreviation& each = found[code];
    each.tag = cursor.uleb();
    each.has_children = cursor.fixed(1) != 0;
    while (cursor.is_good()) {
      const Attribute attribute{cursor.uleb(), cursor.uleb()};
      if (attribute.name == 0 && attribute.form == 0) break;
      each.attributes.push_back(attribute);
    }
  }
  return found;
}

/// A value in any of DWARF 2's forms.
struct Value {
  uint64_t number = 0;
  std::string text;
  std::string_view block;
};

/// Nothing for an unknown form, after which the rest cannot be read.
std::optional<Value> read_value(uint64_t form, Cursor* cursor) {
  switch (form) {
    case 0x01:
      return Value{cursor->fixed(8), {}, {}};  // addr
    case 0x03:
      return Value{0, {}, cursor->block(cursor->fixed(2))};  // block2
    case 0x04:
      return Value{0, {}, cursor->block(cursor->fixed(4))};  // block4
    case 0x05:
      return Value{cursor->fixed(2), {}, {}};  // data2
    case 0x06:
      return Value{cursor->fixed(4), {}, {}};  // data4
    case 0x07:
      return Value{cursor->fixed(8), {}, {}};  // data8
    case 0x08:
      return Value{0, cursor->text(), {}};  // string
    case 0x09:
      return Value{0, {}, cursor->block(cursor->uleb())};  // block
    case 0x0a:
      return Value{0, {}, cursor->block(cursor->fixed(1))};  // block1
    case 0x0b:
    case 0x0c:
    case 0x11:
      return Value{cursor->fixed(1), {}, {}};  // data1, flag, ref1
    case 0x0d:
    case 0x0f:
    case 0x15:
      return Value{cursor->uleb(), {}, {}};  // sdata, udata
    case 0x0e:
    case 0x13:
      return Value{cursor->fixed(4), {}, {}};  // strp, ref4
    case 0x10:
    case 0x14:
      return Value{cursor->fixed(8), {}, {}};  // ref_addr, ref8
    case 0x12:
      return Value{cursor->fixed(2), {}, {}};  // ref2
    default:
      return std::nullopt;
  }
}

/// The offset in "DW_OP_plus_uconst offset".
uint64_t member_offset(const Value& value) {
  if (value.block.empty() || value.block[0] != 0x23) return value.number;
  Cursor cursor(value.block.substr(1));
  return cursor.uleb();
}

void take(uint64_t attribute, const Value& value, DebugEntry* entry) {
  switch (attribute) {
    case 0x03:
      entry->name = value.text;
      break;
    case 0x0b:
      entry->size_bytes = value.number;
      break;
    case 0x0d:
      entry->is_bit_field = true;
      break;
    case 0x2f:  // the upper bound
    case 0x37:
      entry->count = value.number + (attribute == 0x2f ? 1 : 0);
      entry->has_count = true;
      break;
    case 0x38:
      entry->offset_bytes = member_offset(value);
      break;
    case 0x3e:
      entry->encoding = value.number;
      break;
    case 0x49:
      entry->type = value.number;
      break;
    default:
      break;
  }
}

}  // namespace

DebugInfo DebugInfo::read(std::string_view ptx) {
  DebugInfo info;
  const Abbreviations abbreviations = read_abbreviations(section_bytes(ptx, ".debug_abbrev"));
  const std::string bytes = section_bytes(ptx, ".debug_info");
  constexpr uint64_t kHeaderBytes = 4 + 2 + 4 + 1;
  Cursor cursor(bytes);
  static_cast<void>(cursor.block(kHeaderBytes));
  std::vector<uint64_t> parents;
  while (cursor.is_good() && !cursor.at_end()) {
    const uint64_t offset = cursor.offset();
    const uint64_t code = cursor.uleb();
    if (code == 0) {
      if (!parents.empty()) parents.pop_back();
      continue;
    }
    const auto found = abbreviations.find(code);
    if (found == abbreviations.end()) break;
    DebugEntry entry;
    entry.tag = found->second.tag;
    for (const Attribute& attribute : found->second.attributes) {
      const std::optional<Value> value = read_value(attribute.form, &cursor);
      if (!value) return info;
      // DW_AT_MIPS_linkage_name is the kernel's name in the PTX.
      if (attribute.name == 0x2007) info.kernels_.emplace(value->text, offset);
      take(attribute.name, *value, &entry);
    }
    if (entry.tag == kTagSubprogram) info.kernels_.emplace(entry.name, offset);
    if (!parents.empty()) info.entries_[parents.back()].children.push_back(offset);
    info.entries_[offset] = std::move(entry);
    if (found->second.has_children) parents.push_back(offset);
  }
  return info;
}

const DebugEntry* DebugInfo::entry(uint64_t offset) const {
  const auto found = entries_.find(offset);
  return found == entries_.end() ? nullptr : &found->second;
}

const DebugEntry* DebugInfo::kernel(const std::string& symbol) const {
  const auto found = kernels_.find(symbol);
  return found == kernels_.end() ? nullptr : entry(found->second);
}

}  // namespace km::tools
