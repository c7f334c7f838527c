# Every library that is not ours: the installed package first, a pinned release otherwise (all but the system
# libraries). Offline, point FETCHCONTENT_SOURCE_DIR_<NAME> at a checkout.
find_package(PkgConfig REQUIRED)

FetchContent_Declare(fmt GIT_REPOSITORY https://github.com/fmtlib/fmt.git GIT_TAG 10.2.1 SYSTEM
                     FIND_PACKAGE_ARGS 9)
FetchContent_Declare(nlohmann_json GIT_REPOSITORY https://github.com/nlohmann/json.git GIT_TAG v3.11.3 SYSTEM
                     FIND_PACKAGE_ARGS 3.11)
FetchContent_Declare(CLI11 GIT_REPOSITORY https://github.com/CLIUtils/CLI11.git GIT_TAG v2.4.2 SYSTEM
                     FIND_PACKAGE_ARGS 2.1)
FetchContent_Declare(utf8cpp GIT_REPOSITORY https://github.com/nemtrif/utfcpp.git GIT_TAG v4.0.6 SYSTEM
                     FIND_PACKAGE_ARGS 3.2)
# Readers of launch files.
FetchContent_Declare(yaml-cpp GIT_REPOSITORY https://github.com/jbeder/yaml-cpp.git GIT_TAG 0.8.0 SYSTEM
                     FIND_PACKAGE_ARGS 0.6)
FetchContent_Declare(tomlplusplus GIT_REPOSITORY https://github.com/marzer/tomlplusplus.git GIT_TAG v3.4.0 SYSTEM
                     FIND_PACKAGE_ARGS 3)
foreach(part TESTS TOOLS CONTRIB)
  set(YAML_CPP_BUILD_${part} OFF CACHE INTERNAL "")
endforeach()
set(YAML_CPP_INSTALL OFF CACHE INTERNAL "")
set(JSON_BuildTests OFF CACHE INTERNAL "")
FetchContent_MakeAvailable(fmt nlohmann_json CLI11 utf8cpp yaml-cpp tomlplusplus)
# Older packages of yaml-cpp have a target without a name space, and newer ones that alone.
if(NOT TARGET yaml-cpp::yaml-cpp)
  add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
endif()

# System libraries: no fallback.
pkg_check_modules(CAIRO REQUIRED IMPORTED_TARGET cairo>=1.16 cairo-ft cairo-pdf cairo-png)
pkg_check_modules(FREETYPE REQUIRED IMPORTED_TARGET freetype2)
pkg_check_modules(FONTCONFIG REQUIRED IMPORTED_TARGET fontconfig)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)

# SQLite has no CMake package: CMake finds the installed one, else its one source file from a mirror of its releases.
if(NOT FETCHCONTENT_SOURCE_DIR_SQLITE3)
  find_package(SQLite3 3.34 QUIET)
endif()
if(NOT TARGET SQLite::SQLite3)
  enable_language(C)
  FetchContent_Declare(sqlite3 GIT_REPOSITORY https://github.com/azadkuh/sqlite-amalgamation.git
                       GIT_TAG 15d0ff10ebc7e7225eced1de84bb52137000899b SYSTEM)  # 3.38.2
  FetchContent_GetProperties(sqlite3)
  if(NOT sqlite3_POPULATED)
    FetchContent_Populate(sqlite3)
  endif()
  find_package(Threads REQUIRED)
  add_library(sqlite3_source STATIC ${sqlite3_SOURCE_DIR}/sqlite3.c)
  target_include_directories(sqlite3_source SYSTEM PUBLIC ${sqlite3_SOURCE_DIR})
  target_compile_definitions(sqlite3_source PRIVATE SQLITE_OMIT_LOAD_EXTENSION SQLITE_DQS=0 SQLITE_ENABLE_DESERIALIZE)
  target_link_libraries(sqlite3_source PUBLIC Threads::Threads)
  add_library(SQLite::SQLite3 ALIAS sqlite3_source)
endif()

if(ROOFSCAPE_GUI)
  find_package(OpenGL REQUIRED)
  FetchContent_Declare(glfw GIT_REPOSITORY https://github.com/glfw/glfw.git GIT_TAG 3.4 SYSTEM
                       FIND_PACKAGE_ARGS 3.3 NAMES glfw3)
  foreach(part DOCS TESTS EXAMPLES INSTALL)
    set(GLFW_${part} OFF CACHE INTERNAL "")
    set(GLFW_BUILD_${part} OFF CACHE INTERNAL "")
  endforeach()
  FetchContent_MakeAvailable(glfw)

  # Dear ImGui has no CMake package: pkg-config, else its sources with the two back ends we use. One interface target,
  # ImGui before GLFW because static libraries are searched in order.
  add_library(roofscape_imgui INTERFACE)
  if(NOT FETCHCONTENT_SOURCE_DIR_IMGUI)
    pkg_check_modules(IMGUI IMPORTED_TARGET imgui>=1.86)
  endif()
  if(IMGUI_FOUND)
    set_target_properties(PkgConfig::IMGUI PROPERTIES INTERFACE_LINK_LIBRARIES
                          "${IMGUI_LINK_LIBRARIES}")
    target_link_libraries(roofscape_imgui INTERFACE PkgConfig::IMGUI glfw OpenGL::GL)
    target_include_directories(roofscape_imgui SYSTEM INTERFACE ${IMGUI_INCLUDE_DIRS})
  else()
    FetchContent_Declare(imgui GIT_REPOSITORY https://github.com/ocornut/imgui.git GIT_TAG v1.91.9b SYSTEM)
    FetchContent_GetProperties(imgui)
    if(NOT imgui_POPULATED)
      FetchContent_Populate(imgui)
    endif()
    add_library(imgui_sources STATIC
      ${imgui_SOURCE_DIR}/imgui.cpp ${imgui_SOURCE_DIR}/imgui_draw.cpp ${imgui_SOURCE_DIR}/imgui_tables.cpp
      ${imgui_SOURCE_DIR}/imgui_widgets.cpp ${imgui_SOURCE_DIR}/backends/imgui_impl_glfw.cpp
      ${imgui_SOURCE_DIR}/backends/imgui_impl_opengl3.cpp)
    target_include_directories(imgui_sources SYSTEM PUBLIC ${imgui_SOURCE_DIR} ${imgui_SOURCE_DIR}/backends)
    target_link_libraries(imgui_sources PUBLIC glfw OpenGL::GL ${CMAKE_DL_LIBS})
    target_link_libraries(roofscape_imgui INTERFACE imgui_sources)
  endif()
endif()

if(ROOFSCAPE_TESTS)
  FetchContent_Declare(doctest GIT_REPOSITORY https://github.com/doctest/doctest.git GIT_TAG v2.4.11 SYSTEM
                       FIND_PACKAGE_ARGS 2.4)
  set(DOCTEST_WITH_TESTS OFF CACHE INTERNAL "")
  FetchContent_MakeAvailable(doctest)
  if(doctest_SOURCE_DIR)
    include(${doctest_SOURCE_DIR}/scripts/cmake/doctest.cmake)
    set(DOCTEST_INCLUDE_DIR ${doctest_SOURCE_DIR}/doctest)
  else()
    include(${doctest_DIR}/doctest.cmake)
  endif()
endif()
if(ROOFSCAPE_BENCH)
  set(BENCHMARK_ENABLE_TESTING OFF CACHE INTERNAL "")
  FetchContent_Declare(benchmark GIT_REPOSITORY https://github.com/google/benchmark.git GIT_TAG v1.8.4 SYSTEM
                       FIND_PACKAGE_ARGS 1.7)
  FetchContent_MakeAvailable(benchmark)
endif()
