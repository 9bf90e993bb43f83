#pragma once

/// AMD's compiled kernels, without an AMD GPU: code objects and what holds them (CMake target wavegate::object), their
/// instructions (wavegate::isa), and an interpreter of whole waves (wavegate::wave). None of them needs Vulkan.

#include "wavegate/amdgpu/isa/disassemble.h"   // IWYU pragma: export
#include "wavegate/amdgpu/object/container.h"  // IWYU pragma: export
#include "wavegate/amdgpu/object/functions.h"  // IWYU pragma: export
#include "wavegate/amdgpu/wave/emulate.h"      // IWYU pragma: export
