// BodyParser: the statements of a function's body.
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

/// FunctionParsers are the parsers that bodies and signatures share.
struct FunctionParsers {
  DirectiveParser& directives;
  SignatureParser& signatures;
  FunctionDirectiveParser& function_directives;
};

/// BodyParser reads one body, from '{' to '}'.
class BodyParser {
 public:
  /// The body goes to the function of `context`.
  BodyParser(TokenStream& tokens, const ModuleBuilder& module, const FunctionParsers& parsers,
             LocalDeclarationParser& declarations, InstructionParser& instructions,
             FunctionContext& context)
      : tokens_(tokens),
        module_(module),
        parsers_(parsers),
        declarations_(declarations),
        instructions_(instructions),
        context_(context) {}

  /// parse() reads the body, whose '{' is the current token.
  Status parse();

 private:
  /// parse_statement() reads an instruction, a directive or a label.
  Status parse_statement();

  /// parse_directive() reads a statement that begins with a dot.
  Status parse_directive();

  /// parse_pragma() reads `.pragma`; "used_bytes_mask 0xF0F" says which bytes of what the next load
  /// reads are used.
  Status parse_pragma();

  /// parse_label() reads a label with its colon and what belongs to it.
  Status parse_label();

  /// parse_targets() reads `a, b;` after `label: .branchtargets` or, if `calls`, `.calltargets`.
  Status parse_targets(const Token& label, bool calls);

  /// parse_target() reads one name of such a list.
  Status parse_target(TargetList& list, uint32_t index, bool calls);

  /// parse_prototype() reads `(.param .b32 _) _ (.param .b64 _) .noreturn;` after `label:
  /// .callprototype`.
  Status parse_prototype(const Token& label);

  TokenStream& tokens_;
  const ModuleBuilder& module_;
  FunctionParsers parsers_;
  LocalDeclarationParser& declarations_;
  InstructionParser& instructions_;
  FunctionContext& context_;
};

}  // namespace km::ptx
