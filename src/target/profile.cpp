#include "wavegate/target/profile.h"

namespace wavegate::target {

std::string_view to_string(ModuleLanguage language) {
  constexpr std::string_view names[] = {"none", "spirv", "wgsl"};
  return names[static_cast<uint8_t>(language)];
}

ModuleLanguage module_language(const Profile& profile) {
  if (profile.backend == "vulkan") return ModuleLanguage::spirv;
  if (profile.backend == "webgpu") return ModuleLanguage::wgsl;
  return ModuleLanguage::none;
}

std::vector<std::string> feature_names(const Profile& profile) {
  const struct {
    const char* name;
    bool present;
  } rows[] = {
      {"int8", profile.features.int8},
      {"int16", profile.features.int16},
      {"int64", profile.features.int64},
      {"float16", profile.features.float16},
      {"float64", profile.features.float64},
      {"int64-atomics", profile.features.int64_atomics},
      {"device-pointers", profile.features.device_pointers},
      {"subgroup-operations", profile.features.subgroup_operations},
      {"conditional-rendering", profile.features.conditional_rendering},
      {"timestamps", profile.features.timestamps},
      {"fused-fma-f32", profile.floats.fused_fma_f32},
      {"fused-fma-f64", profile.floats.fused_fma_f64},
      {"denormals-f32", profile.floats.keeps_denormals_f32},
      {"denormals-f64", profile.floats.keeps_denormals_f64},
      {"contracts-f32", profile.floats.contracts_f32},
      {"exact-division-f32", profile.floats.exact_division_f32},
      {"exact-square-root-f32", profile.floats.exact_square_root_f32},
  };
  std::vector<std::string> names;
  for (const auto& row : rows)
    if (row.present) names.emplace_back(row.name);
  return names;
}

}  // namespace wavegate::target
