#include "dropin/toolchain/ptx_link.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <string_view>

#include "dropin/toolchain/ptx_scanner.h"

namespace km::toolchain {
namespace {

enum class Linkage : uint8_t { kLocal, kExtern, kVisible, kWeak };

/// A declaration or definition at file scope.
struct Item {
  std::string text;
  std::string symbol;  // empty: it declares no symbol
  Linkage linkage = Linkage::kLocal;
  std::string returns;  // a function's "(.param .b32 r)", or empty
  bool is_function = false;
  bool has_body = false;

  bool is_shared() const { return linkage != Linkage::kLocal && !symbol.empty(); }
  bool is_definition() const { return is_function ? has_body : linkage != Linkage::kExtern; }
};

/// The definition of a symbol that several inputs share: the item that is kept, and its input's
/// index.
struct Definition {
  size_t unit;
  const Item* item;
};
using Definitions = std::map<std::string, Definition>;

struct Unit {
  double version = 0;
  int target_number = 0;
  std::string target;  // the whole directive
  std::vector<Item> items;
};

/// Parses the linkage and the name in an item's head.
void read_head(Item* item) {
  Scanner scanner(item->text);
  int depth = 0;
  while (!scanner.at_end()) {
    const std::string_view piece = scanner.next();
    if (piece == ".extern") item->linkage = Linkage::kExtern;
    if (piece == ".visible") item->linkage = Linkage::kVisible;
    if (piece == ".weak" || piece == ".common") item->linkage = Linkage::kWeak;
    if (piece == ".func" || piece == ".entry") item->is_function = true;
    if (piece == "(") ++depth;
    const bool is_return = item->is_function && item->symbol.empty() && depth > 0;
    if (is_return) item->returns += piece;
    if (piece == ")") --depth;
    if (depth > 0) continue;
    item->has_body = item->is_function && piece == "{";
    const bool ends_head = piece == "[" || piece == "=" || piece == ";" || piece == "{";
    if (ends_head) return;
    if (!is_name(piece[0]) || is_digit(piece[0])) continue;
    if (item->is_function && !item->symbol.empty()) continue;  // later names belong to directives
    item->symbol = piece;
  }
}

void add_item(std::string text, Unit* unit) {
  Item item;
  item.text = std::move(text);
  read_head(&item);
  unit->items.push_back(std::move(item));
}

Unit read_unit(const std::string& text) {
  Unit unit;
  Scanner scanner(text);
  std::string current;
  int depth = 0;
  while (!scanner.at_end()) {
    const std::string_view piece = scanner.next();
    if (current.empty() && is_blank(piece)) continue;
    if (current.empty() && piece == ".version") {
      unit.version = std::strtod(std::string(scanner.rest_of_line()).c_str(), nullptr);
      continue;
    }
    if (current.empty() && piece == ".target") {
      unit.target = ".target" + std::string(scanner.rest_of_line());
      const size_t number = unit.target.find("sm_");
      if (number != unit.target.npos) unit.target_number = std::atoi(&unit.target[number + 3]);
      continue;
    }
    const bool is_line = piece == ".address_size" || piece == ".file" || piece == ".loc";
    if ((current.empty() && is_line) || piece == ".loc") {
      scanner.rest_of_line();  // line numbers are only meaningful in their input
      continue;
    }
    current += piece;
    if (piece == "{") ++depth;
    if (piece == "}") --depth;
    if (depth != 0 || (piece != ";" && piece != "}")) continue;
    // A variable's initialiser continues up to the semicolon.
    if (piece == "}" && current.find('=') < current.find('{')) continue;
    if (!current.starts_with(".section")) add_item(std::move(current), &unit);
    current.clear();
  }
  return unit;
}

std::string rename(const std::string& text, const std::map<std::string, std::string>& names) {
  std::string renamed;
  Scanner scanner(text);
  while (!scanner.at_end()) {
    const std::string_view piece = scanner.next();
    const auto found = names.find(std::string(piece));
    renamed += found != names.end() ? std::string_view(found->second) : piece;
  }
  return renamed;
}

/// Renames an input's local symbols that collide with symbols of other inputs.
void make_locals_unique(size_t index, Unit* unit, std::set<std::string>* taken) {
  std::map<std::string, std::string> names;
  for (const Item& item : unit->items) {
    if (item.linkage != Linkage::kLocal || item.symbol.empty()) continue;
    if (taken->insert(item.symbol).second || names.contains(item.symbol)) continue;
    names[item.symbol] = item.symbol + "__" + std::to_string(index);
  }
  if (names.empty()) return;
  for (Item& item : unit->items) {
    item.text = rename(item.text, names);
    const auto found = names.find(item.symbol);
    if (found != names.end()) item.symbol = found->second;
  }
}

Result<Definitions> find_definitions(const std::vector<PtxInput>& inputs,
                                     const std::vector<Unit>& units) {
  Definitions defined;
  for (size_t i = 0; i < units.size(); ++i) {
    for (const Item& item : units[i].items) {
      if (!item.is_shared() || !item.is_definition()) continue;
      const auto [known, is_new] = defined.emplace(item.symbol, Definition{i, &item});
      if (is_new || item.linkage == Linkage::kWeak) continue;
      if (known->second.item->linkage != Linkage::kWeak) {
        return make_error(
            KM_ERROR_INVALID_PTX, "Multiple definition of '%s' in '%s', first defined in '%s'",
            item.symbol.c_str(), inputs[i].name.c_str(), inputs[known->second.unit].name.c_str());
      }
      known->second = {i, &item};
    }
  }
  return defined;
}

/// Callers may expect a return value from a function that has none, which GPU linkers accept: the
/// function then returns an undefined value.
void add_missing_returns(std::vector<Unit>* units, const Definitions& defined) {
  for (const Unit& unit : *units) {
    for (const Item& item : unit.items) {
      const auto found = defined.find(item.symbol);
      if (!item.is_function || item.returns.empty() || found == defined.end()) continue;
      std::vector<Item>& others = (*units)[found->second.unit].items;
      Item& definition = others[static_cast<size_t>(found->second.item - others.data())];
      if (!definition.is_function || !definition.returns.empty()) continue;
      definition.returns = item.returns;
      const size_t name = definition.text.find(definition.symbol);
      definition.text.insert(name, item.returns + " ");
    }
  }
}

/// Declares symbols that a unit uses before or without defining them: functions as prototypes,
/// variables as written.
std::string declarations(const Unit& unit, const Definitions& defined,
                         std::set<std::string>* written) {
  std::string text;
  for (const Item& item : unit.items) {
    if (!item.is_shared()) continue;
    const auto found = defined.find(item.symbol);
    if (found != defined.end() && found->second.item == &item) continue;
    if (!written->insert(item.symbol).second) continue;
    if (found == defined.end()) {
      text += item.text;
    } else if (!item.is_function) {
      text += found->second.item->text;
    } else {
      const std::string head = item.text.substr(0, item.text.find('{'));
      text += rename(head, {{".extern", ".visible"}}) + (item.has_body ? ";" : "");
    }
    text += "\n";
  }
  return text;
}

}  // namespace

Result<std::string> link_ptx(const std::vector<PtxInput>& inputs) {
  if (inputs.size() == 1) return inputs[0].text;
  std::vector<Unit> units;
  for (const PtxInput& input : inputs) units.push_back(read_unit(input.text));
  KM_ASSIGN(const Definitions defined, find_definitions(inputs, units));
  std::set<std::string> taken;
  for (const auto& [symbol, definition] : defined) taken.insert(symbol);
  double version = 0;
  const Unit* newest = &units[0];
  for (size_t i = 0; i < units.size(); ++i) {
    make_locals_unique(i, &units[i], &taken);
    version = std::max(version, units[i].version);
    if (units[i].target_number > newest->target_number) newest = &units[i];
  }
  add_missing_returns(&units, defined);
  char head[64];
  std::snprintf(head, sizeof head, ".version %.1f\n", version);
  std::string linked = head + newest->target + "\n.address_size 64\n";
  std::set<std::string> written;
  for (const Unit& unit : units) linked += declarations(unit, defined, &written);
  for (const Unit& unit : units) {
    for (const Item& item : unit.items) {
      if (item.is_shared()) {
        const auto found = defined.find(item.symbol);
        if (found == defined.end() || found->second.item != &item) continue;
        if (!item.is_function && written.contains(item.symbol)) continue;
      }
      linked += item.text + "\n";
    }
  }
  return linked;
}

}  // namespace km::toolchain
