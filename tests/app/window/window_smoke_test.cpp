// The real window under a virtual display: starts, loads each scenario, draws, writes a picture that is not blank,
// ends with 0. Skipped with a clear line where there is no xvfb-run or no OpenGL 3.3 in it.
#include <doctest/doctest.h>

#include <cairo.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <string>

namespace {

const std::string kProgram = ROOFSCAPE_PROGRAM;

int run(const std::string& command) {
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool have_display() {
  static const bool have =
      run("command -v xvfb-run >/dev/null 2>&1") == 0 && run("command -v Xvfb >/dev/null 2>&1") == 0;
  if (!have) std::cout << "skipped: no xvfb-run\n";
  return have;
}

struct Folder {
  std::filesystem::path path;
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "roofscape-window-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

// How many different colours a coarse grid of the picture has; 0 if it cannot be read or has another size.
std::size_t colours(const std::filesystem::path& file, int width, int height) {
  cairo_surface_t* surface = cairo_image_surface_create_from_png(file.c_str());
  std::set<unsigned> found;
  if (cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS && cairo_image_surface_get_width(surface) == width &&
      cairo_image_surface_get_height(surface) == height) {
    const unsigned char* data = cairo_image_surface_get_data(surface);
    const int stride = cairo_image_surface_get_stride(surface);
    for (int y = 0; y < height; y += 3)
      for (int x = 0; x < width; x += 3) {
        const unsigned char* p = data + static_cast<std::ptrdiff_t>(y) * stride + static_cast<std::ptrdiff_t>(x) * 4;
        found.insert(static_cast<unsigned>(p[0]) | static_cast<unsigned>(p[1]) << 8 |
                     static_cast<unsigned>(p[2]) << 16);
      }
  }
  cairo_surface_destroy(surface);
  return found.size();
}

}  // namespace

TEST_CASE("help, unknown scenarios and bad flags need no display") {
  CHECK(run("env -u DISPLAY " + kProgram + " --help >/dev/null") == 0);
  CHECK(run("env -u DISPLAY " + kProgram + " --version >/dev/null") == 0);
  CHECK(run("env -u DISPLAY " + kProgram + " no-such-scenario 2>/dev/null") == 2);
  CHECK(run("env -u DISPLAY " + kProgram + " --size banana 2>/dev/null") == 2);
  CHECK(run("env -u DISPLAY " + kProgram + " --theme mauve 2>/dev/null") == 2);
  CHECK(run("env -u DISPLAY " + kProgram + " --nonsense 2>/dev/null") == 2);
  CHECK(run("env -u DISPLAY -u WAYLAND_DISPLAY " + kProgram + " --capture /dev/null 2>/dev/null") == 1);
}

TEST_CASE("without a font the window says so and does not open") {
  const Folder folder;
  const auto fonts = folder.path / "fonts.conf", errors = folder.path / "errors";
  std::ofstream(fonts) << "<?xml version=\"1.0\"?><fontconfig><dir>/nonexistent</dir></fontconfig>";
  CHECK(run("env -u DISPLAY -u WAYLAND_DISPLAY FONTCONFIG_FILE=" + fonts.string() + " " + kProgram + " 2>" +
            errors.string()) == 2);
  std::ifstream said(errors);
  std::string line;
  std::getline(said, line);
  CHECK(line.find("there is no font on this machine; install the package fonts-noto-core") != std::string::npos);
}

TEST_CASE("the window starts with every scenario and its picture is not blank") {
  if (!have_display()) return;
  const Folder folder;
  struct Shot {
    const char* scenario;
    const char* theme;
    int width, height;
  };
  for (const Shot& shot :
       {Shot{"llama3-70b-v5p-pod", "dark", 1920, 1080}, Shot{"llama3-405b-16k-h100", "light", 1280, 720},
        Shot{"llama3-405b-16k-h100-8k", "dark", 1280, 720}, Shot{"llama3-8b-8-h100", "light", 1024, 700}}) {
    CAPTURE(shot.scenario);
    const auto file = folder.path / (std::string(shot.scenario) + ".png");
    const std::string size = std::to_string(shot.width) + "x" + std::to_string(shot.height);
    // Drivers of the virtual display leak; a build with sanitizers need not fail for that.
    const std::string command =
        "ASAN_OPTIONS=detect_leaks=0 LIBGL_ALWAYS_SOFTWARE=1 timeout 60 xvfb-run -a -s '-screen 0 1920x1080x24 "
        "-noreset' " +
        kProgram + " " + shot.scenario + " --size " + size + " --theme " + shot.theme + " --capture " +
        file.string() + " --frames 5 2>" + (folder.path / "errors").string();
    const int code = run(command);
    if (code == 1 && run("grep -qiE 'glx|gl |opengl|egl' " + (folder.path / "errors").string()) == 0) {
      std::cout << "skipped: the virtual display has no OpenGL 3.3\n";
      return;
    }
    CHECK(code == 0);
    CHECK(colours(file, shot.width, shot.height) > 60);
  }
}
