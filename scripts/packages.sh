# What run.sh and test.sh share: the packages of Debian and Ubuntu that Roofscape needs, installing those that are
# missing, and building a CMake preset. To be sourced.
# shellcheck shell=bash disable=SC2034

build_packages=(
  cmake ninja-build g++ pkg-config git
  libimgui-dev libstb-dev libglfw3-dev libgl-dev
  libcairo2-dev libfreetype-dev libfontconfig-dev zlib1g-dev
  libfmt-dev nlohmann-json3-dev libcli11-dev libutfcpp-dev doctest-dev libyaml-cpp-dev libtomlplusplus-dev libsqlite3-dev
  fontconfig fonts-noto-core fonts-noto-cjk
)
test_packages=("${build_packages[@]}" libbenchmark-dev xvfb xauth libgl1-mesa-dri)
# Only for installing and packaging; an ordinary build does without them. lintian, appstream and desktop-file-utils check.
package_packages=(dpkg-dev file librsvg2-bin lintian appstream desktop-file-utils)

installed() {
  [ "$(dpkg-query -W -f '${db:Status-Abbrev}' "$1" 2>/dev/null | cut -c1-2)" = ii ]
}

# Installs the packages named that are not there. Does nothing, and needs no rights, when all are.
install_missing() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    # Elsewhere the build itself says what it misses; this is what to look for.
    if command -v cmake >/dev/null && command -v ninja >/dev/null && command -v pkg-config >/dev/null; then return; fi
    cat >&2 <<'TEXT'
This is not Debian or Ubuntu, so nothing is installed for you. Needed are: a C++20 compiler, CMake 3.24, Ninja, pkg-config,
git, OpenGL, Cairo, FreeType, fontconfig and zlib with their headers, and the fonts Noto Sans, Noto Sans Math and Noto Sans CJK.
Dear ImGui, GLFW, fmt, nlohmann_json, CLI11, utf8cpp, yaml-cpp, toml++, SQLite and doctest are taken from the system if they are there and fetched otherwise.
TEXT
    exit 1
  fi
  local package missing=() root=()
  for package in "$@"; do
    installed "$package" || missing+=("$package")
  done
  if [ ${#missing[@]} -eq 0 ]; then return; fi
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "Missing packages; as root run: apt-get install ${missing[*]}" >&2
      exit 1
    fi
    root=(sudo)
  fi
  echo "Installing: ${missing[*]}"
  "${root[@]}" apt-get update -q
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"
}

# build_preset FOLDER PRESET [TARGET...]: configures and builds; all it says goes to stderr. The caller's folder stays.
build_preset() {
  (
    cd "$1" || exit
    cmake --preset "$2" -Wno-dev >&2
    if [ $# -gt 2 ]; then
      cmake --build --preset "$2" --target "${@:3}" >&2
    else
      cmake --build --preset "$2" >&2
    fi
  )
}
