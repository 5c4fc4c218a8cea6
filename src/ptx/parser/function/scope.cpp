#include "ptx/parser/function/scope.h"

#include <charconv>

namespace km::ptx {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

void FunctionScopes::close() {
  size_t start = scope_starts_.back();
  scope_starts_.pop_back();
  while (undo_.size() > start) {
    auto binding = undo_.back().bindings->find(undo_.back().name);
    uint32_t previous = entities_[binding->second].previous;
    if (previous == kNone) {
      undo_.back().bindings->erase(binding);
    } else {
      binding->second = previous;
    }
    undo_.pop_back();
  }
  --depth_;
}

bool FunctionScopes::bind(Bindings& bindings, std::string_view name, Entity entity) {
  entity.depth = depth_;
  auto [binding, fresh] = bindings.try_emplace(name, static_cast<uint32_t>(entities_.size()));
  if (!fresh) {
    if (entities_[binding->second].depth == depth_) return false;
    entity.previous = binding->second;
    binding->second = static_cast<uint32_t>(entities_.size());
  }
  entities_.push_back(entity);
  undo_.push_back({&bindings, name});
  return true;
}

bool FunctionScopes::declare(std::string_view name, Entity entity) {
  auto in_range = find_in_range(name, depth_);
  return !in_range && bind(names_, name, entity);
}

bool FunctionScopes::declare_range(std::string_view prefix, Type type, uint8_t width,
                                   uint32_t count) {
  Entity entity;
  entity.kind = Entity::Kind::register_range;
  entity.id = static_cast<uint32_t>(ranges_.size());
  ranges_.push_back({type, width, count, {}});
  return bind(prefixes_, prefix, entity);
}

std::optional<Entity> FunctionScopes::find(std::string_view name) {
  auto binding = names_.find(name);
  if (binding == names_.end()) return find_in_range(name, 0);
  const Entity entity = entities_[binding->second];
  if (entity.depth == depth_) return entity;
  auto in_range = find_in_range(name, entity.depth + 1);
  return in_range ? in_range : entity;
}

const Entity* FunctionScopes::find_innermost(std::string_view name) const {
  auto binding = names_.find(name);
  if (binding == names_.end()) return nullptr;
  const Entity& entity = entities_[binding->second];
  return entity.depth == depth_ ? &entity : nullptr;
}

/// %r12 may be number 12 of %r<n> or number 2 of %r1<n>, so every split of the digits is tried.
std::optional<Entity> FunctionScopes::find_in_range(std::string_view name, uint32_t least_depth) {
  constexpr size_t kMostDigits = 10;
  size_t split = name.size();
  while (split > 1 && is_digit(name[split - 1]) && name.size() - split < kMostDigits) --split;
  for (; split < name.size(); ++split) {
    auto binding = prefixes_.find(name.substr(0, split));
    if (binding == prefixes_.end()) continue;
    const Entity entity = entities_[binding->second];
    std::string_view digits = name.substr(split);
    uint32_t index = 0;
    auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    bool canonical = digits.size() == 1 || digits[0] != '0';
    if (parsed.ec != std::errc() || !canonical || entity.depth < least_depth) continue;
    Range& range = ranges_[entity.id];
    if (index >= range.count) continue;
    auto [used, fresh] = range.used.try_emplace(index, 0);
    const bool vector = range.width > 1;
    if (fresh) {
      used->second =
          vector ? add_vector(name, range.type, range.width) : add_register(name, range.type);
    }
    Entity found;
    found.kind = vector ? Entity::Kind::vector_register : Entity::Kind::reg;
    found.count = vector ? range.width : 0;
    found.id = used->second;
    found.depth = entity.depth;
    return found;
  }
  return std::nullopt;
}

RegisterId FunctionScopes::add_register(std::string_view name, Type type) {
  function_.registers.push_back({unique(name), type});
  return static_cast<RegisterId>(function_.registers.size() - 1);
}

RegisterId FunctionScopes::add_vector(std::string_view name, Type type, uint8_t width) {
  const auto first = static_cast<RegisterId>(function_.registers.size());
  const std::string base = unique(name);
  for (uint8_t i = 0; i < width; ++i) {
    function_.registers.push_back({base + "." + "xyzw"[i], type});
  }
  return first;
}

std::string FunctionScopes::unique(std::string_view name) {
  std::string candidate(name);
  uint32_t& uses = used_names_[candidate];
  if (uses++ == 0) {
    if (!module_names_.contains(name)) return candidate;
    ++uses;
  }
  for (;;) {
    candidate = std::string(name) + "$" + std::to_string(uses);
    bool free = !module_names_.contains(candidate);
    if (free && used_names_.try_emplace(candidate, 1).second) return candidate;
    // The reference `uses` stays valid, because the map's nodes do not move.
    ++uses;
  }
}

}  // namespace km::ptx
