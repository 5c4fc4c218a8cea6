// Decodes Itanium names to signatures with LLVM's demangler. Only its headers are used; nothing of
// LLVM is linked.
#include <llvm/Demangle/ItaniumDemangle.h>

#include <cstddef>
#include <memory>
#include <new>

#include "compile/signature/signature.h"

namespace km {
namespace {

namespace demangle = llvm::itanium_demangle;
using demangle::Node;
using demangle::NodeArray;

/// Longer names are ignored.
constexpr size_t kMaxNameBytes = 16 << 10;
/// Limits the recursion: nested productions of the grammar, and levels of nodes.
constexpr uint32_t kMaxDepth = 48;
/// Limits the nodes of a type, with repeated uses counted each time, since substitutions let names
/// grow exponentially.
constexpr uint32_t kMaxWeight = 2048;

/// Facts about a node, stored in front of it.
struct alignas(16) Facts {
  uint32_t weight = 1;
  uint32_t depth = 1;
  bool has_template_parameter = false;  // it refers to a template parameter by position ("T_")
  // Its meaning depends on a look-up in a template parameter's type.
  bool is_dependent = false;
};

Facts& facts_of(const Node* node) {
  return *(reinterpret_cast<Facts*>(const_cast<Node*>(node)) - 1);
}

void add_facts(const Node* node, Facts* sum) {
  if (node == nullptr) return;
  const Facts& facts = facts_of(node);
  sum->weight = std::min(kMaxWeight + 1, sum->weight + facts.weight);
  sum->depth = std::max(sum->depth, facts.depth + 1);
  sum->has_template_parameter |= facts.has_template_parameter;
  sum->is_dependent |= facts.is_dependent;
}
void add_facts(NodeArray nodes, Facts* sum) {
  for (const Node* node : nodes) add_facts(node, sum);
}
template <class Other>
  requires(!std::is_convertible_v<Other, const Node*>)
void add_facts(const Other&, Facts*) {}

/// The allocator of one parse. Nodes have no destructors, so the memory is freed at once.
class Nodes {
 public:
  template <class T, class... Arguments>
  Node* makeNode(Arguments&&... arguments) {
    Facts facts;
    (add_facts(arguments, &facts), ...);
    if constexpr (std::is_same_v<T, demangle::NestedName>) {
      facts.is_dependent |= facts.has_template_parameter;
    }
    if constexpr (std::is_same_v<T, demangle::ParameterPackExpansion> ||
                  std::is_same_v<T, demangle::ForwardTemplateReference>) {
      facts.is_dependent = true;
    }
    auto* const place = static_cast<std::byte*>(allocate(sizeof(Facts) + sizeof(T)));
    new (place) Facts(facts);
    return new (place + sizeof(Facts)) T(std::forward<Arguments>(arguments)...);
  }
  void* allocateNodeArray(size_t count) { return allocate(count * sizeof(Node*)); }
  void reset() { blocks_.clear(); }

 private:
  static constexpr size_t kBlockBytes = 4096;

  void* allocate(size_t size_bytes) {
    size_bytes = (size_bytes + 15) / 16 * 16;
    if (size_bytes > left_) {
      left_ = std::max(kBlockBytes, size_bytes);
      blocks_.push_back(std::make_unique<Block[]>(left_ / sizeof(Block)));
      next_ = blocks_.back()[0].bytes;
    }
    left_ -= size_bytes;
    return std::exchange(next_, next_ + size_bytes);
  }

  struct alignas(16) Block {
    std::byte bytes[16];
  };
  std::vector<std::unique_ptr<Block[]>> blocks_;
  std::byte* next_ = nullptr;
  size_t left_ = 0;
};

/// LLVM's parser with bounded recursion. Expressions and lambdas, which no kernel's parameter
/// needs, are refused, because their productions recurse without calling this class.
class Parser final : public demangle::AbstractManglingParser<Parser, Nodes> {
 public:
  using Base = demangle::AbstractManglingParser<Parser, Nodes>;
  explicit Parser(std::string_view name) : Base(name.data(), name.data() + name.size()) {}

  Node* parseType() {
    // "u" introduces vendor types, whose arguments recurse separately.
    return look() == 'u' ? nullptr : bounded([&] { return Base::parseType(); });
  }
  Node* parseEncoding(bool parse_params = true) {
    return bounded([&] { return Base::parseEncoding(parse_params); });
  }
  Node* parseName(NameState* state = nullptr) {
    return bounded([&] { return Base::parseName(state); });
  }
  Node* parseTemplateArg() {
    return isTemplateParamDecl() ? nullptr : bounded([&] { return Base::parseTemplateArg(); });
  }
  Node* parseExpr() { return nullptr; }
  Node* parseUnnamedTypeName(NameState*) { return nullptr; }
  /// Names declared in a function are refused too.
  Node* parseLocalName(NameState*) { return nullptr; }

  /// A reference to a template parameter becomes a node of its own, so that it differs from the
  /// same argument written out.
  Node* parseTemplateParam() {
    Node* const argument = Base::parseTemplateParam();
    if (argument == nullptr) return nullptr;
    Node* const use = make<demangle::QualType>(argument, demangle::QualNone);
    facts_of(use).has_template_parameter = true;
    return use;
  }

 private:
  template <class Production>
  Node* bounded(Production&& production) {
    if (depth_ == kMaxDepth) return nullptr;
    ++depth_;
    Node* const node = production();
    --depth_;
    return node;
  }

  uint32_t depth_ = 0;
};

/// The unqualified type; qualifiers may be nested.
const Node* without_qualifiers(const Node* node, bool* is_const) {
  while (node->getKind() == Node::KQualType) {
    const auto* const type = static_cast<const demangle::QualType*>(node);
    *is_const |= (type->getQuals() & demangle::QualConst) != 0;
    node = type->getChild();
  }
  return node;
}

struct FreeText {
  void operator()(char* text) const { std::free(text); }
};

std::string print(const Node* node) {
  demangle::OutputBuffer buffer;
  node->print(buffer);
  const std::unique_ptr<char, FreeText> owner(buffer.getBuffer());
  return std::string(buffer.getBuffer(), buffer.getCurrentPosition());
}

bool is_name(const Node* node) {
  switch (node->getKind()) {
    case Node::KNameType:
    case Node::KNestedName:
    case Node::KNameWithTemplateArgs:
    case Node::KExpandedSpecialSubstitution:
    case Node::KSpecialSubstitution:
    case Node::KBinaryFPType:
      return true;
    default:
      return false;
  }
}

ElementType element_type(const Node* node) {
  const Node::Kind kind = node->getKind();
  if (kind == Node::KPointerType) return element_of(KM_ELEMENT_TYPE_POINTER, 1);
  if (!is_name(node) || facts_of(node).is_dependent) return {};
  std::string name = print(node);
  if (name == "_Float16") return element_of(KM_ELEMENT_TYPE_F16, 1);
  if (name == "std::bfloat16_t") return element_of(KM_ELEMENT_TYPE_BF16, 1);
  // Only names in the global scope are CUDA's own types.
  if (kind == Node::KNameType) return element_named(name);
  return {KM_ELEMENT_TYPE_NAMED, 1, std::move(name)};
}

/// The target type of a pointer or reference; null for other types.
const Node* target_of(const Node* node) {
  const Node* target = nullptr;
  if (node->getKind() == Node::KPointerType) {
    target = static_cast<const demangle::PointerType*>(node)->getPointee();
  } else if (node->getKind() == Node::KReferenceType) {
    static_cast<const demangle::ReferenceType*>(node)->match(
        [&](const Node* pointee, demangle::ReferenceKind) { target = pointee; });
  }
  return target;
}

ParamType param_type(const Node* node) {
  const Facts& facts = facts_of(node);
  if (facts.weight > kMaxWeight || facts.depth > kMaxDepth) return {};
  ParamType type;
  bool is_const_itself = false;
  node = without_qualifiers(node, &is_const_itself);
  const Node* const target = target_of(node);
  if (target == nullptr) {
    type.element = element_type(node);
    if (type.element.type != KM_ELEMENT_TYPE_UNKNOWN && type.element.type != KM_ELEMENT_TYPE_VOID) {
      type.kind = KM_SIGNATURE_KIND_VALUE;
    }
    return type;
  }
  type.kind = KM_SIGNATURE_KIND_POINTER;
  type.element = element_type(without_qualifiers(target, &type.is_const));
  if (type.element.type == KM_ELEMENT_TYPE_UNKNOWN) type.is_const = false;
  return type;
}

std::optional<Signature> signature(NodeArray params) {
  Signature types;
  for (const Node* param : params) {
    // A pack expansion is one node for any number of parameters.
    if (param->getKind() == Node::KParameterPackExpansion) return std::nullopt;
    types.push_back(param_type(param));
  }
  return types;
}

/// The single argument of a template; null if there is not exactly one.
const Node* only_argument(Node* arguments) {
  if (arguments == nullptr || arguments->getKind() != Node::KTemplateArgs) return nullptr;
  const NodeArray list = static_cast<demangle::TemplateArgs*>(arguments)->getParams();
  return list.size() == 1 ? list[0] : nullptr;
}

bool is_possible(std::string_view name, std::string_view start) {
  return name.starts_with(start) && name.size() <= kMaxNameBytes;
}

}  // namespace

std::optional<Signature> signature_of_name(std::string_view mangled) {
  if (!is_possible(mangled, "_Z")) return std::nullopt;
  Parser parser(mangled.substr(2));
  const Node* const node = parser.parseEncoding();
  if (node == nullptr || parser.numLeft() != 0 || node->getKind() != Node::KFunctionEncoding) {
    return std::nullopt;
  }
  return signature(static_cast<const demangle::FunctionEncoding*>(node)->getParams());
}

std::optional<Signature> signature_of_instance(std::string_view mangled) {
  if (!is_possible(mangled, "_Z")) return std::nullopt;
  Parser parser(mangled.substr(2));
  const Node* const node = parser.parseEncoding();
  if (node == nullptr || parser.numLeft() != 0 || node->getKind() != Node::KNameWithTemplateArgs) {
    return std::nullopt;
  }
  const Node* type = nullptr;
  static_cast<const demangle::NameWithTemplateArgs*>(node)->match(
      [&](const Node*, Node* arguments) { type = only_argument(arguments); });
  if (type == nullptr || type->getKind() != Node::KFunctionType) return std::nullopt;
  std::optional<Signature> types;
  static_cast<const demangle::FunctionType*>(type)->match(
      [&](const Node*, NodeArray params, demangle::Qualifiers, demangle::FunctionRefQual,
          const Node*) { types = signature(params); });
  return types;
}

}  // namespace km
