#include "wavegate/device/webgpu/library_native.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "wavegate/base/format.h"

namespace wavegate::device::webgpu::gpu {
namespace {

constexpr const char* kLibraryName = "libwebgpu_wrapper.so";

std::vector<std::string> candidates() {
  // Whoever names a library means that one.
  if (const char* named = std::getenv("WAVEGATE_WEBGPU_LIBRARY"); named && *named != '\0') return {named};
  std::vector<std::string> paths;
  std::error_code error;
  const std::filesystem::path executable = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) paths.push_back((executable.parent_path() / kLibraryName).string());
#ifdef WAVEGATE_WEBGPU_INSTALLED
  paths.emplace_back(WAVEGATE_WEBGPU_INSTALLED);
#endif
  return paths;
}

Result<Functions> functions_of(void* library, const std::string& path) {
  Functions functions;
#define WAVEGATE_FIND(name)                                                        \
  functions.name = reinterpret_cast<WGPUProc##name>(dlsym(library, "wgpu" #name)); \
  if (functions.name == nullptr)                                                   \
    return device_error(                                                           \
        format("the WebGPU library {} lacks wgpu" #name "; use the one that tools/install_webgpu.sh gets", path));
  WAVEGATE_WEBGPU_FUNCTIONS(WAVEGATE_FIND)
#undef WAVEGATE_FIND
  return functions;
}

Result<Functions> load_library() {
  // An application that brings its own implementation shares it with us, and so can lend its devices.
  if (dlsym(RTLD_DEFAULT, "wgpuCreateInstance") != nullptr) return functions_of(RTLD_DEFAULT, "of this process");
  std::string tried;
  for (const std::string& path : candidates()) {
    if (void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return functions_of(library, path);
    const char* why = dlerror();
    tried += format("{}{}", tried.empty() ? "" : "; ", why ? why : path.c_str());
  }
  return device_error(format(
      "there is no WebGPU library ({}); run tools/install_webgpu.sh, or name one in WAVEGATE_WEBGPU_LIBRARY", tried));
}

bool is_over = false;

Result<Functions> load_once() {
  Result<Functions> loaded = load_library();
  if (loaded) std::atexit([] { is_over = true; });
  return loaded;
}

}  // namespace

const Result<Functions>& library() {
  static const auto* const result = new Result<Functions>(load_once());
  return *result;
}

bool has_ended() {
  return is_over;
}

}  // namespace wavegate::device::webgpu::gpu
