// Loads NVIDIA's driver at run time, so that one library runs on machines with and without a GPU.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tulle::cuda {

using Status = int;  // 0 is success
using Context = struct ContextHandle*;
using DriverModule = struct ModuleHandle*;
using Linker = struct LinkerHandle*;
using DriverFunction = struct FunctionHandle*;
using Stream = struct StreamHandle*;
using Event = struct EventHandle*;
using Pointer = uint64_t;  // in device memory

// X(name, symbol, parameters): the functions of libcuda.so.1 that Tulle calls, by versioned
// symbols.
#define TULLE_CUDA_FUNCTIONS(X)                                                                    \
  X(init, "cuInit", (unsigned flags))                                                              \
  X(error_name, "cuGetErrorName", (Status status, const char** name))                              \
  X(error_string, "cuGetErrorString", (Status status, const char** text))                          \
  X(device_count, "cuDeviceGetCount", (int* count))                                                \
  X(device_get, "cuDeviceGet", (int* device, int ordinal))                                         \
  X(device_name, "cuDeviceGetName", (char* name, int length, int device))                          \
  X(device_attribute, "cuDeviceGetAttribute", (int* value, int attribute, int device))             \
  X(retain_context, "cuDevicePrimaryCtxRetain", (Context * context, int device))                   \
  X(current_context, "cuCtxGetCurrent", (Context * context))                                       \
  X(push_context, "cuCtxPushCurrent_v2", (Context context))                                        \
  X(pop_context, "cuCtxPopCurrent_v2", (Context * context))                                        \
  X(version, "cuDriverGetVersion", (int* version))                                                 \
  X(create_linker, "cuLinkCreate_v2",                                                              \
    (unsigned count, int* options, void** values, Linker* linker))                                 \
  X(link_data, "cuLinkAddData_v2",                                                                 \
    (Linker linker, int kind, const void* data, size_t bytes, const char* name, unsigned count,    \
     int* options, void** values))                                                                 \
  X(finish_linking, "cuLinkComplete", (Linker linker, void** image, size_t* bytes))                \
  X(destroy_linker, "cuLinkDestroy", (Linker linker))                                              \
  X(load_module, "cuModuleLoadData", (DriverModule * module, const void* image))                   \
  X(unload_module, "cuModuleUnload", (DriverModule module))                                        \
  X(get_function, "cuModuleGetFunction",                                                           \
    (DriverFunction * function, DriverModule module, const char* name))                            \
  X(set_function_attribute, "cuFuncSetAttribute",                                                  \
    (DriverFunction function, int attribute, int value))                                           \
  X(launch, "cuLaunchKernel",                                                                      \
    (DriverFunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, \
     unsigned block_y, unsigned block_z, unsigned shared, Stream stream, void** parameters,        \
     void** extra))                                                                                \
  X(allocate, "cuMemAllocAsync", (Pointer * memory, size_t bytes, Stream stream))                  \
  X(release, "cuMemFreeAsync", (Pointer memory, Stream stream))                                    \
  X(fill, "cuMemsetD8Async", (Pointer memory, unsigned char byte, size_t count, Stream stream))    \
  X(copy_to_host, "cuMemcpyDtoHAsync_v2", (void* to, Pointer from, size_t bytes, Stream stream))   \
  X(copy_to_device, "cuMemcpyHtoDAsync_v2",                                                        \
    (Pointer to, const void* from, size_t bytes, Stream stream))                                   \
  X(create_stream, "cuStreamCreate", (Stream * stream, unsigned flags))                            \
  X(synchronise, "cuStreamSynchronize", (Stream stream))                                           \
  X(is_capturing, "cuStreamIsCapturing", (Stream stream, int* status))                             \
  X(exchange_capture_mode, "cuThreadExchangeStreamCaptureMode", (int* mode))                       \
  X(create_event, "cuEventCreate", (Event * event, unsigned flags))                                \
  X(destroy_event, "cuEventDestroy_v2", (Event event))                                             \
  X(record_event, "cuEventRecord", (Event event, Stream stream))                                   \
  X(await_event, "cuEventSynchronize", (Event event))                                              \
  X(elapsed, "cuEventElapsedTime", (float* milliseconds, Event start, Event end))

struct Driver {
#define X(name, symbol, parameters) Status(*name) parameters = nullptr;
  TULLE_CUDA_FUNCTIONS(X)
#undef X
};

// Loads the driver on the first call. Throws UserError that names the missing part if there is no
// driver or it is too old; the next call tries again.
const Driver& driver();

// Throws UserError if the GPU is out of memory, InternalError for any other failure. `doing` names
// the failed operation.
void check(Status status, const char* doing);

}  // namespace tulle::cuda
