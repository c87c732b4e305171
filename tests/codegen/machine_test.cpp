// Targets: presets, other machines, and instruction selection.
#include <gtest/gtest.h>

#include "codegen/fixture.h"
#include "loop/parse.h"
#include "tulle/error.h"

namespace tulle::codegen {
namespace {

const char* kMinimum = R"(kernel kernel(A: f32*, C: mut f32*; n: i64) {
  for i in [0, n) by 16 { C[ramp(i, 1, 16)] = min(C[ramp(i, 1, 16)], A[ramp(i, 1, 16)]) }
})";

std::string assembly_for(const char* text, const Target& target) {
  Module module = emit_cpu({loop::parse_kernel(text)}, target);
  optimise(module);
  return assembly(module);
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

TEST(Machine, PresetsBoundTheInstructions) {
  EXPECT_FALSE(contains(assembly_for(kMinimum, preset_target("sse4.2")), "%ymm"));
  EXPECT_TRUE(contains(assembly_for(kMinimum, preset_target("avx2")), "%ymm"));
  EXPECT_FALSE(contains(assembly_for(kMinimum, preset_target("avx2")), "%zmm"));
  EXPECT_TRUE(contains(assembly_for(kMinimum, preset_target("avx512")), "%zmm"));
  EXPECT_THROW(host_target("avx1024"), UserError);
}

TEST(Machine, MinimumIsThreeInstructions) {
  const std::string text = assembly_for(kMinimum, preset_target("avx512"));
  EXPECT_TRUE(contains(text, "vminps")) << text;
  EXPECT_TRUE(contains(text, "vcmpunordps")) << text;
  EXPECT_FALSE(contains(text, "vfpclass")) << text;
}

TEST(Machine, HostTargetHasItsFeatures) {
  const Target host = host_target();
  EXPECT_TRUE(contains(host.triple, "linux"));
  EXPECT_FALSE(host.cpu.empty());
  EXPECT_TRUE(contains(host.features, "+sse4.2"));
  EXPECT_TRUE(host == host_target());
}

TEST(Machine, LightCodeIsCodeOfItsOwn) {
  const Target host = host_target();
  Target light = host;
  light.light = true;
  EXPECT_FALSE(light == host);
  EXPECT_NE(assembly_for(kMinimum, light), assembly_for(kMinimum, host));
}

TEST(Machine, EmitsObjectsForAArch64) {
  const Target target{"aarch64-unknown-linux-gnu", "generic", "+neon"};
  Module module = emit_cpu({loop::parse_kernel(kMinimum)}, target);
  optimise(module);
  const std::vector<char> bytes = object(module);
  ASSERT_GT(bytes.size(), 20U);
  EXPECT_EQ(std::string(bytes.data(), 4),
            "\x7f"
            "ELF");
  const int machine =
      static_cast<unsigned char>(bytes[18]) + 256 * static_cast<unsigned char>(bytes[19]);
  EXPECT_EQ(machine, 183);  // EM_AARCH64
  EXPECT_TRUE(contains(assembly(module), "fmin"));
}

TEST(Machine, RefusesUnknownTargets) {
  EXPECT_THROW(emit_cpu({}, {"pdp11-dec-unix", "", ""}), InternalError);
}

TEST(Machine, PrintsWhatItHolds) {
  Module module = emit_cpu({loop::parse_kernel(kMinimum)}, host_target());
  EXPECT_TRUE(contains(print_llvm(module), "define i32 @kernel(ptr"));
  EXPECT_TRUE(contains(print_llvm(module), "noalias readonly"));
  const std::vector<char> once = object(module);
  EXPECT_EQ(object(module), once);
}

}  // namespace
}  // namespace tulle::codegen
