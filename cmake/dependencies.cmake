# The linked libraries (LLVM, zstd, zlib and SQLite, all static), and lld, which links them.

# Python runs the scripts of the build. With TULLE_TORCH, it also locates torch's headers.
if(EXISTS ${CMAKE_SOURCE_DIR}/.venv/bin/python AND NOT DEFINED Python3_EXECUTABLE AND NOT DEFINED Python_EXECUTABLE)
  set(Python3_EXECUTABLE ${CMAKE_SOURCE_DIR}/.venv/bin/python)
endif()
find_package(Python3 3.10 REQUIRED COMPONENTS Interpreter)

# LLVM's package file searches for zlib. A shared zlib would be a dependency of the wheel.
set(ZLIB_USE_STATIC_LIBS ON)
find_package(LLVM 22.1 CONFIG QUIET HINTS /usr/lib/llvm-22)
if(NOT LLVM_FOUND)
  message(FATAL_ERROR "LLVM 22.1 was not found. On Debian: apt install llvm-22-dev libzstd-dev zlib1g-dev; "
                      "elsewhere: -DLLVM_DIR=<prefix>/lib/cmake/llvm.")
endif()
separate_arguments(TULLE_LLVM_DEFINITIONS NATIVE_COMMAND "${LLVM_DEFINITIONS}")
llvm_map_components_to_libnames(TULLE_LLVM_LIBRARIES
  Core Support Analysis TargetParser IRReader BitReader BitWriter Linker Passes InstCombine ScalarOpts TransformUtils
  Target MC OrcJIT JITLink ExecutionEngine
  X86CodeGen X86AsmParser X86Disassembler AArch64CodeGen AArch64AsmParser NVPTXCodeGen)

# Debian's LLVMSupport links the shared zstd and Z3. Use the static zstd. Nothing here uses Z3.
get_target_property(libraries LLVMSupport INTERFACE_LINK_LIBRARIES)
list(TRANSFORM libraries REPLACE "^zstd::libzstd_shared$" "zstd::libzstd_static")
list(FILTER libraries EXCLUDE REGEX "libz3")
set_target_properties(LLVMSupport PROPERTIES INTERFACE_LINK_LIBRARIES "${libraries}")

find_library(TULLE_SQLITE NAMES libsqlite3.a REQUIRED)
find_package(Threads REQUIRED)

# LLVM and its dependencies, for targets that use LLVM.
add_library(tulle_llvm INTERFACE)
target_include_directories(tulle_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_compile_definitions(tulle_llvm INTERFACE ${TULLE_LLVM_DEFINITIONS})
target_link_libraries(tulle_llvm INTERFACE ${TULLE_LLVM_LIBRARIES} Threads::Threads ${CMAKE_DL_LIBS})

# lld links LLVM's static libraries in one second. The system's linker takes ten.
if(EXISTS ${LLVM_TOOLS_BINARY_DIR}/ld.lld)
  add_link_options(-B${LLVM_TOOLS_BINARY_DIR} -fuse-ld=lld)
else()
  message(STATUS "ld.lld is not in ${LLVM_TOOLS_BINARY_DIR}: using the system's linker, which is slower")
endif()
