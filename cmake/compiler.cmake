# Settings of every target: language, warnings, optimisation, sanitizers and ccache.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug or RelWithDebInfo" FORCE)
endif()
# No check of this project depends on NDEBUG. It only disables assertions in third-party headers.
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

# Messages contain paths relative to the repository.
add_compile_options(-ffunction-sections -fdata-sections "-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=")
add_link_options(-Wl,--gc-sections)

set(TULLE_WARNINGS -Wall -Wextra -Werror -Wnon-virtual-dtor -Woverloaded-virtual -Wextra-semi -Wvla
    -Wimplicit-fallthrough -Wcast-qual -Wundef -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND TULLE_WARNINGS -Wduplicated-cond -Wlogical-op)
  if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
    # These warnings are false positives inside std::string, std::vector and std::variant.
    list(APPEND TULLE_WARNINGS -Wno-restrict -Wno-maybe-uninitialized -Wno-dangling-pointer -Wno-array-bounds
         -Wno-stringop-overflow -Wno-stringop-overread -Wno-free-nonheap-object)
  endif()
endif()

if(TULLE_SANITIZE)
  list(JOIN TULLE_SANITIZE "," sanitizers)
  add_compile_options(-fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${sanitizers})
endif()

find_program(TULLE_CCACHE ccache)
if(TULLE_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${TULLE_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${TULLE_CCACHE})
endif()
