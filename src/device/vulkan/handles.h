#pragma once

#include <cstdint>

/// The Vulkan handles that Wavegate's own headers mention, declared exactly as vulkan.h declares them, so that a
/// program that does not use Vulkan need not have it, and one that does may include both in any order.
typedef struct VkInstance_T* VkInstance;
typedef struct VkPhysicalDevice_T* VkPhysicalDevice;
typedef struct VkDevice_T* VkDevice;
typedef struct VkQueue_T* VkQueue;
typedef struct VkCommandBuffer_T* VkCommandBuffer;
#if UINTPTR_MAX > 0xffffffffu
typedef struct VkBuffer_T* VkBuffer;
#else
typedef uint64_t VkBuffer;
#endif
