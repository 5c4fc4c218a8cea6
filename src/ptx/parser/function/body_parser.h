// The statements of a function's body.
#pragma once

#include "base/result.h"
#include "ptx/parser/declaration/directive_parser.h"
#include "ptx/parser/function/function_context.h"
#include "ptx/parser/function/function_directive_parser.h"
#include "ptx/parser/function/local_declaration_parser.h"
#include "ptx/parser/function/signature_parser.h"
#include "ptx/parser/instruction/instruction_parser.h"
#include "ptx/parser/module_builder.h"
#include "ptx/parser/token_stream.h"

namespace km::ptx {

/// The parsers that bodies and signatures share.
struct FunctionParsers {
  DirectiveParser& directives;
  SignatureParser& signatures;
  FunctionDirectiveParser& function_directives;
};

/// Parses one body, from '{' to '}'.
class BodyParser {
 public:
  /// The statements are added to the function of `context`.
  BodyParser(TokenStream& tokens, const ModuleBuilder& module, const FunctionParsers& parsers,
             LocalDeclarationParser& declarations, InstructionParser& instructions,
             FunctionContext& context)
      : tokens_(tokens),
        module_(module),
        parsers_(parsers),
        declarations_(declarations),
        instructions_(instructions),
        context_(context) {}

  /// Parses the body; its '{' must be the current token.
  Status parse();

 private:
  /// Parses an instruction, a directive or a label.
  Status parse_statement();

  /// Parses a statement that starts with a dot.
  Status parse_directive();

  /// Parses `.pragma`. "used_bytes_mask 0xF0F" marks the bytes of the next load that are used.
  Status parse_pragma();

  /// Parses a label with its colon and the list or prototype that may follow.
  Status parse_label();

  /// Parses `a, b;` after `label: .branchtargets` or, if `calls`, `.calltargets`.
  Status parse_targets(const Token& label, bool calls);

  Status parse_target(TargetList& list, uint32_t index, bool calls);

  /// Parses `(.param .b32 _) _ (.param .b64 _) .noreturn;` after `label: .callprototype`.
  Status parse_prototype(const Token& label);

  TokenStream& tokens_;
  const ModuleBuilder& module_;
  FunctionParsers parsers_;
  LocalDeclarationParser& declarations_;
  InstructionParser& instructions_;
  FunctionContext& context_;
};

}  // namespace km::ptx
