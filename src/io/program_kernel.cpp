#include "wavegate/io/program_kernel.h"

#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "wavegate/base/format.h"
#include "wavegate/io/file.h"
#include "wavegate/io/json_number.h"
#include "wavegate/io/program_types.h"
#include "wavegate/kir/opaque_kernel.h"
#include "wavegate/kir/text.h"

namespace wavegate::io {
namespace {

using ReadFile = std::function<Result<NamedFile>(const JsonView&)>;

/// A text, or a list of its lines.
Result<std::string> joined(const JsonView& view) {
  if (view.value().as<JsonValue::Items>() == nullptr) return view.text();
  WAVEGATE_TRY(const auto lines, view.items());
  std::string text;
  for (const JsonView& line : lines) {
    WAVEGATE_TRY(const std::string part, line.text());
    text += part;
    text += '\n';
  }
  return text;
}

Result<kir::Kernel> parse_kir(const JsonView& view, std::string_view text, const std::string& source) {
  auto parsed = kir::parse(text);
  if (parsed) return parsed;
  Error cause = parsed.error();
  if (!cause.where.empty()) cause.where = source + cause.where;
  return view.error(cause);
}

Result<kir::Kernel> kir_source(const JsonView& view, const ReadFile& read) {
  if (const auto text = view.find("kir")) {
    WAVEGATE_TRY(const std::string lines, joined(*text));
    return parse_kir(*text, lines, "line ");
  }
  WAVEGATE_TRY(const JsonView source, view.at("kir_file"));
  WAVEGATE_TRY(const NamedFile content, read(source));
  return parse_kir(source, as_text(content.bytes), content.path.string() + ":");
}

Result<kir::BindingInfo> binding(const JsonView& view) {
  WAVEGATE_CHECK(view.check_keys({"name", "kind", "type", "access"}));
  WAVEGATE_TRY(const JsonView name, view.at("name"));
  WAVEGATE_TRY(const JsonView type, view.at("type"));
  WAVEGATE_TRY(const JsonView access_view, view.at("access"));
  kir::BindingInfo info;
  WAVEGATE_TRY(info.name, name.text());
  WAVEGATE_TRY(info.type, element_type(type));
  WAVEGATE_TRY(info.access, access(access_view));
  if (const auto kind = view.find("kind")) {
    WAVEGATE_TRY(info.kind, binding_kind(*kind));
  }
  if (info.kind == kir::BindingKind::scalar && info.type != kir::Type::i32 && info.type != kir::Type::f32)
    return type.error("a scalar binding is i32 or f32");
  return info;
}

Result<kir::ParameterInfo> parameter(const JsonView& view) {
  WAVEGATE_CHECK(view.check_keys({"name", "type"}));
  WAVEGATE_TRY(const JsonView name, view.at("name"));
  WAVEGATE_TRY(const JsonView type, view.at("type"));
  kir::ParameterInfo info;
  WAVEGATE_TRY(info.name, name.text());
  WAVEGATE_TRY(info.type, element_type(type));
  if (info.type != kir::Type::i32 && info.type != kir::Type::f32)
    return unsupported("a program gives i32 and f32 parameters only", type.path());
  return info;
}

/// The interface that is declared for modules, which do not say it themselves.
Result<kir::Interface> declared_interface(const JsonView& view) {
  kir::Interface interface;
  WAVEGATE_TRY(const JsonView size, view.at("workgroup_size"));
  WAVEGATE_TRY(interface.workgroup_size, three_sizes(size));
  if (const auto list = view.find("bindings")) {
    WAVEGATE_TRY(const auto items, list->items());
    for (const JsonView& item : items) {
      WAVEGATE_TRY(kir::BindingInfo made, binding(item));
      interface.bindings.push_back(std::move(made));
    }
  }
  if (const auto list = view.find("parameters")) {
    WAVEGATE_TRY(const auto items, list->items());
    for (const JsonView& item : items) {
      WAVEGATE_TRY(kir::ParameterInfo made, parameter(item));
      interface.parameters.push_back(std::move(made));
    }
  }
  return interface;
}

Result<std::vector<std::uint32_t>> spirv_words(const JsonView& view, const ReadFile& read) {
  WAVEGATE_TRY(const NamedFile content, read(view));
  if (content.bytes.size() % 4 != 0)
    return view.error(
        format("{} has {} bytes; SPIR-V consists of words of 4", content.path.string(), content.bytes.size()));
  std::vector<std::uint32_t> words(content.bytes.size() / 4);
  if (!words.empty()) std::memcpy(words.data(), content.bytes.data(), content.bytes.size());
  return words;
}

}  // namespace

Result<std::shared_ptr<const program::KernelSource>> read_kernel(const std::string& name, const JsonView& view,
                                                                 const ReadFile& read) {
  std::vector<std::string_view> keys = {"kir", "kir_file", "spirv_file", "wgsl_file"};
  std::vector<std::string_view> all_keys = {"entry_point", "workgroup_size", "bindings", "parameters"};
  all_keys.insert(all_keys.end(), keys.begin(), keys.end());
  WAVEGATE_CHECK(view.check_keys(all_keys));
  if (view.has("kir") && view.has("kir_file")) return view.error("has both \"kir\" and \"kir_file\"; give one of them");
  const bool has_kir = view.has("kir") || view.has("kir_file");
  const bool has_module = view.has("spirv_file") || view.has("wgsl_file");
  if (!has_kir && !has_module)
    return view.error("has no source; give \"kir\" or \"kir_file\", \"spirv_file\", \"wgsl_file\", or several of them");
  if (has_module) keys.push_back("entry_point");
  if (!has_kir) keys.insert(keys.end(), {"workgroup_size", "bindings", "parameters"});
  WAVEGATE_CHECK(view.check_keys(keys));  // a kir kernel says the rest itself

  program::KernelSources sources;
  kir::OpaqueKernel module;
  if (has_kir) {
    WAVEGATE_TRY(sources.kir, kir_source(view, read));
    sources.kir->interface.name = name;
    module.interface = sources.kir->interface;
  } else {
    WAVEGATE_TRY(module.interface, declared_interface(view));
    module.interface.name = name;
  }
  if (const auto entry_point = view.find("entry_point")) {
    WAVEGATE_TRY(module.entry_point, entry_point->text());
  }
  if (const auto source = view.find("spirv_file")) {
    sources.spirv = module;
    WAVEGATE_TRY(sources.spirv->spirv, spirv_words(*source, read));
  }
  if (const auto source = view.find("wgsl_file")) {
    WAVEGATE_TRY(const NamedFile content, read(*source));
    sources.wgsl = module;
    sources.wgsl->wgsl = as_text(content.bytes);
  }
  auto made = program::make_kernel_source(std::move(sources));
  if (!made) return view.error(made.error());
  return made;
}

}  // namespace wavegate::io
