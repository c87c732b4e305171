# Functions that define the targets, one for each kind of target.

# Reads the table of scripts/check_includes.py into TULLE_FOLDERS, TULLE_USES_<folder> and TULLE_LLVM_FOLDERS.
function(tulle_read_table)
  execute_process(COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/scripts/check_includes.py --cmake
                  OUTPUT_VARIABLE table OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" table "${table}")
  set(folders)
  foreach(line IN LISTS table)
    string(REGEX MATCH "^([a-zA-Z_]+)=(.*)$" _ "${line}")
    set(folder ${CMAKE_MATCH_1})
    string(REPLACE "," ";" names "${CMAKE_MATCH_2}")
    if(folder STREQUAL "LLVM")
      set(TULLE_LLVM_FOLDERS ${names} PARENT_SCOPE)
    else()
      list(APPEND folders ${folder})
      set(TULLE_USES_${folder} ${names} PARENT_SCOPE)
    endif()
  endforeach()
  set(TULLE_FOLDERS ${folders} PARENT_SCOPE)
endfunction()

# Sets the include paths and warnings of a target of this project.
function(tulle_configure target)
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
  target_compile_options(${target} PRIVATE ${TULLE_WARNINGS})
endfunction()

# Adds LLVM's headers without its libraries, because an object library links nothing.
function(tulle_use_llvm_headers target)
  target_include_directories(${target} SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
  target_compile_definitions(${target} PRIVATE ${TULLE_LLVM_DEFINITIONS})
endfunction()

# Adds src/<folder> as the object library tulle_<folder>, if the folder has sources.
function(tulle_add_folder folder)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${folder}/*.cpp)
  if(NOT sources)
    return()
  endif()
  add_library(tulle_${folder} OBJECT ${sources})
  tulle_configure(tulle_${folder})
  if(folder IN_LIST TULLE_LLVM_FOLDERS)
    tulle_use_llvm_headers(tulle_${folder})
  endif()
  if(folder STREQUAL "api")
    set_source_files_properties(${CMAKE_SOURCE_DIR}/src/api/version.cpp PROPERTIES
                                COMPILE_DEFINITIONS "TULLE_VERSION=\"${PROJECT_VERSION}\"")
  endif()
endfunction()

# Links folders and the static libraries that they need into a target. "everything" means all folders.
function(tulle_link target)
  set(folders ${ARGN})
  if(folders STREQUAL "everything")
    set(folders ${TULLE_FOLDERS})
  endif()
  set(needs_llvm FALSE)
  foreach(folder IN LISTS folders)
    if(TARGET tulle_${folder})
      target_sources(${target} PRIVATE $<TARGET_OBJECTS:tulle_${folder}>)
      if(folder IN_LIST TULLE_LLVM_FOLDERS)
        set(needs_llvm TRUE)
      endif()
    endif()
  endforeach()
  if(needs_llvm)
    target_link_libraries(${target} PRIVATE tulle_llvm)
  endif()
  target_link_libraries(${target} PRIVATE ${TULLE_SQLITE} Threads::Threads ${CMAKE_DL_LIBS})
endfunction()

# Adds libtulle.so: all folders except torch/, with LLVM linked in. It exports the public API only.
function(tulle_add_library)
  add_library(tulle SHARED)
  tulle_link(tulle everything)
  set_target_properties(tulle PROPERTIES LINKER_LANGUAGE CXX LINK_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/libtulle.map)
  target_include_directories(tulle INTERFACE ${CMAKE_SOURCE_DIR}/include)
  target_link_options(tulle PRIVATE -Wl,--exclude-libs,ALL -Wl,-z,defs
                      -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/libtulle.map)
  install(TARGETS tulle LIBRARY DESTINATION tulle/lib COMPONENT python)
endfunction()

# Adds libtulle_torch.so: torch/, which uses LibTorch's stable ABI. The build needs torch's headers only. It links an
# empty library with the SONAME of libtorch_cpu.so, so that the loader resolves torch's symbols in the real library.
function(tulle_add_torch_library)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/torch/*.cpp)
  execute_process(
    COMMAND ${Python3_EXECUTABLE} -c
            "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"
    OUTPUT_VARIABLE torch OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
  if(NOT status EQUAL 0 OR NOT EXISTS ${torch}/include/torch/csrc/stable/library.h)
    message(FATAL_ERROR "${Python3_EXECUTABLE} has no torch with the headers of the stable ABI (2.11 or later). "
                        "Run 'make build' to install it, or choose another Python with -DPython3_EXECUTABLE=...")
  endif()

  file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/stub/empty.c CONTENT "typedef int tulle_empty;\n")
  add_library(tulle_torch_stub SHARED ${CMAKE_BINARY_DIR}/stub/empty.c)
  set_target_properties(tulle_torch_stub PROPERTIES OUTPUT_NAME torch_cpu LIBRARY_OUTPUT_DIRECTORY stub)

  add_library(tulle_torch SHARED ${sources})
  target_include_directories(tulle_torch PRIVATE ${CMAKE_SOURCE_DIR}/include)
  target_include_directories(tulle_torch SYSTEM PRIVATE ${torch}/include)
  target_compile_options(tulle_torch PRIVATE ${TULLE_WARNINGS})
  target_compile_definitions(tulle_torch PRIVATE TORCH_TARGET_VERSION=0x020b000000000000)
  target_link_libraries(tulle_torch PRIVATE tulle -Wl,--no-as-needed tulle_torch_stub -Wl,--as-needed)
  # The stub does not define torch's symbols, so -z defs would fail. The import test finds undefined symbols.
  target_link_options(tulle_torch PRIVATE -Wl,--exclude-libs,ALL
                      -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/libtulle_torch.map)
  set_target_properties(tulle_torch PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN"
                        LINK_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/libtulle_torch.map)
  install(TARGETS tulle_torch LIBRARY DESTINATION tulle/lib COMPONENT python)
endfunction()

# Adds each tools/tulle_<name>.cpp as the program tulle-<name>. The target "tools" builds all of them.
function(tulle_add_tools)
  add_custom_target(tools)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tools/tulle_*.cpp)
  foreach(source IN LISTS sources)
    get_filename_component(name ${source} NAME_WE)
    string(REPLACE "_" "-" name ${name})
    add_executable(${name} ${source})
    tulle_configure(${name})
    tulle_link(${name} everything)
    add_dependencies(tools ${name})
  endforeach()
  # tulle-fuzz and the tests share the generator of random programs.
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/differential/*.cpp)
  list(FILTER sources EXCLUDE REGEX "(_test|matrix_run).cpp$")
  target_sources(tulle-fuzz PRIVATE ${sources})
  target_include_directories(tulle-fuzz PRIVATE ${CMAKE_SOURCE_DIR}/tests)
endfunction()

# Sets the result to the path of ptxas in Python's package nvidia-cuda-nvcc-cu12, or to "" without this package.
function(tulle_find_ptxas result)
  execute_process(
    COMMAND ${Python3_EXECUTABLE} -c
            "import sysconfig; print(sysconfig.get_path('purelib') + '/nvidia/cuda_nvcc/bin/ptxas')"
    OUTPUT_VARIABLE ptxas OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT EXISTS ${ptxas})
    set(ptxas "")
  endif()
  set(${result} "${ptxas}" PARENT_SCOPE)
endfunction()

# Adds tests/<folder>/*.cpp as the GoogleTest program <folder>_test. It links the object libraries of src/ directly,
# because libtulle.so hides internal symbols.
function(tulle_add_tests)
  find_package(GTest REQUIRED)
  tulle_find_ptxas(ptxas)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/*/*.cpp)
  set(folders)
  foreach(source IN LISTS sources)
    get_filename_component(folder ${source} DIRECTORY)
    get_filename_component(folder ${folder} NAME)
    list(APPEND folders ${folder})
    list(APPEND sources_${folder} ${source})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder IN LISTS folders)
    set(target ${folder}_test)
    add_executable(${target} ${sources_${folder}})
    tulle_configure(${target})
    target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
    if(DEFINED TULLE_USES_${folder})
      tulle_link(${target} ${TULLE_USES_${folder}})
    else()
      tulle_link(${target} everything)
    endif()
    target_compile_definitions(${target} PRIVATE TULLE_SOURCE_DIR="${CMAKE_SOURCE_DIR}" TULLE_BUILD_PTXAS="${ptxas}")
    target_link_libraries(${target} PRIVATE GTest::gtest GTest::gtest_main)
    if(folder STREQUAL "gpu")  # needs a GPU, so "make test-gpu" builds it; shares the matrix with differential
      set(matrix ${sources_differential})
      list(FILTER matrix EXCLUDE REGEX "_test.cpp$")
      target_sources(${target} PRIVATE ${matrix})
      set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
    else()
      if(folder STREQUAL "differential")  # assembles the PTX of GPU schedules
        target_sources(${target} PRIVATE ${CMAKE_SOURCE_DIR}/tests/codegen/assemble.cpp)
      endif()
      add_test(NAME ${folder} COMMAND ${target} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    endif()
  endforeach()
endfunction()
