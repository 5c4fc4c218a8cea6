#include "harness/forms.h"

#include <algorithm>
#include <cmath>
#include <span>

#include <gtest/gtest.h>

#include "harness/compare.h"
#include "harness/session.h"

namespace km::kernels {
namespace {

/// Forms per kernel: enough to save compilations, few enough to keep each short.
constexpr size_t kFormsPerKernel = 16;

constexpr const char* kPrologue = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry forms(.param .u64 p_a, .param .u64 p_b, .param .u64 p_c, .param .u64 p_out,
                      .param .u32 p_n)
{
  .reg .pred %p<4>;
  .reg .b16 %h<8>;
  .reg .b32 %r<16>;
  .reg .b64 %l<16>;
  mov.u32 %r10, %ctaid.x;
  mov.u32 %r11, %ntid.x;
  mov.u32 %r12, %tid.x;
  mad.lo.s32 %r13, %r10, %r11, %r12;
  ld.param.u32 %r14, [p_n];
  setp.ge.u32 %p1, %r13, %r14;
  @%p1 bra DONE;
  mul.wide.u32 %l10, %r13, 8;
  mul.wide.u32 %l11, %r14, 8;
  ld.param.u64 %l12, [p_a];
  add.s64 %l12, %l12, %l10;
  ld.global.u64 %l1, [%l12];
  ld.param.u64 %l12, [p_b];
  add.s64 %l12, %l12, %l10;
  ld.global.u64 %l2, [%l12];
  ld.param.u64 %l12, [p_c];
  add.s64 %l12, %l12, %l10;
  ld.global.u64 %l3, [%l12];
  cvt.u32.u64 %r1, %l1;
  cvt.u32.u64 %r2, %l2;
  cvt.u32.u64 %r3, %l3;
  cvt.u16.u64 %h1, %l1;
  cvt.u16.u64 %h2, %l2;
  cvt.u16.u64 %h3, %l3;
  setp.ne.u64 %p3, %l3, 0;
  ld.param.u64 %l13, [p_out];
  add.s64 %l13, %l13, %l10;
)";

/// "  min.f32 %r4, %r1, %r2;" and the store of its result to column k.
std::string instruction_text(const Form& form) {
  std::string text = "  " + form.instruction;
  for (size_t i = 0; i < form.signature.size(); ++i) {
    const char kind = form.signature[i];
    const size_t number = i == 0 ? 4 : kind == 'p' ? 3 : i;
    text += std::string(i == 0 ? " %" : ", %") + kind +
            std::to_string(i == 0 && kind == 'p' ? 2 : number);
  }
  text += form.suffix + ";\n";
  switch (form.signature[0]) {
    case 'h':
      text += "  cvt.u64.u16 %l4, %h4;\n";
      break;
    case 'r':
      text += "  cvt.u64.u32 %l4, %r4;\n";
      break;
    case 'p':
      text += "  selp.u64 %l4, 1, 0, %p2;\n";
      break;
    default:
      break;
  }
  return text + "  st.global.u64 [%l13], %l4;\n  add.s64 %l13, %l13, %l11;\n";
}

std::string kernel_text(std::span<const Form> forms) {
  std::string text = kPrologue;
  for (const Form& form : forms) text += instruction_text(form);
  return text + "DONE:\n  ret;\n}\n";
}

bool same(const Form& form, uint64_t got, uint64_t want) {
  if (got == want) return true;
  if (form.compare == Compare::f32) return std::isnan(f32(got)) && std::isnan(f32(want));
  return form.compare == Compare::f64 && std::isnan(f64(got)) && std::isnan(f64(want));
}

void compare_form(const Form& form, const std::vector<Operands>& inputs, const uint64_t* got) {
  std::vector<uint64_t> want;
  for (const Operands& input : inputs) want.push_back(form.reference(input));
  report(
      inputs.size(), inputs.size(), (form.instruction + form.suffix).c_str(),
      [&](uint64_t i) {
        return same(form, got[i], want[i]) ? "" : difference_text(got[i], want[i]);
      },
      [&](uint64_t i) {
        const Operands& input = inputs[i];
        return text_of(input.a) + ", " + text_of(input.b) + ", " + text_of(input.c);
      });
}

struct InputBuffers {
  Buffer<uint64_t> a, b, c;
};

std::vector<uint64_t> column(const std::vector<Operands>& inputs, uint64_t Operands::* member) {
  std::vector<uint64_t> values;
  for (const Operands& input : inputs) values.push_back(input.*member);
  return values;
}

void run_forms(std::span<const Form> forms, const std::vector<Operands>& inputs,
               const InputBuffers& buffers) {
  std::unique_ptr<Module> module;
  try {
    module = session().ptx_text(kernel_text(forms), "forms.ptx");
    const auto n = static_cast<uint32_t>(inputs.size());
    Buffer<uint64_t> out(session(), n * forms.size());
    module->run("forms", cover(n), buffers.a, buffers.b, buffers.c, out, n);
    const auto got = out.read();
    for (size_t k = 0; k < forms.size(); ++k) compare_form(forms[k], inputs, &got[k * n]);
  } catch (const Failure& failure) {
    if (forms.size() == 1) {
      ADD_FAILURE() << forms[0].instruction << ": " << failure.what();
      return;
    }
    // One form that does not load must not hide the others.
    const size_t half = forms.size() / 2;
    run_forms(forms.first(half), inputs, buffers);
    run_forms(forms.subspan(half), inputs, buffers);
  }
}

}  // namespace

void check_forms(const std::vector<Form>& forms, const std::vector<Operands>& inputs) {
  const InputBuffers buffers{{session(), column(inputs, &Operands::a)},
                             {session(), column(inputs, &Operands::b)},
                             {session(), column(inputs, &Operands::c)}};
  const std::span<const Form> all(forms);
  for (size_t start = 0; start < all.size(); start += kFormsPerKernel) {
    const size_t count = std::min(kFormsPerKernel, all.size() - start);
    run_forms(all.subspan(start, count), inputs, buffers);
  }
}

}  // namespace km::kernels
