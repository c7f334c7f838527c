// imgui_compat: every difference between the generations of Dear ImGui that this project meets (1.86, the Debian
// package, to 1.92 and later), in one place. Nothing else in the project tests IMGUI_VERSION_NUM.
//
// What is used of Dear ImGui is little on purpose: the pointer, draw lists, the glyph atlas, the GLFW and OpenGL back
// ends. Controls, text entry, scrolling and pop-ups are ours (controls.h), so they behave the same on every version.
#pragma once

#include <imgui.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

struct GLFWwindow;

namespace roofscape::widgets::compat {

// The argument order of AddPolyline changed in 1.92.8, and the wrong one compiles silently.
void polyline(ImDrawList& list, const ImVec2* points, int count, ImU32 colour, bool closed, float thickness);

// ---- the atlas ----

// Part of a font: a face of a file, at a size in ImGui's sense (ascent minus descent, in pixels), for some
// characters.
struct FontPart {
  std::span<const unsigned char> data = {};  // the file; must outlive the atlas
  int face_index = 0;
  float size_px = 0;
  const std::vector<ImWchar>* ranges = nullptr;  // pairs ended by 0; ignored where glyphs come on demand
};

// True where the atlas makes glyphs on demand at any size (1.92): no ranges, one font per weight, no rebuilding.
bool dynamic_glyphs();

// Starts a new set of fonts; add_font adds one, merging its parts; build_fonts makes the pixels (older versions).
void clear_fonts(ImFontAtlas& atlas);
ImFont* add_font(ImFontAtlas& atlas, std::span<const FontPart> parts);
void build_fonts(ImFontAtlas& atlas);

// Where a glyph lies: corners relative to the pen on the baseline, and in the atlas texture.
struct GlyphQuad {
  float x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  float u0 = 0, v0 = 0, u1 = 0, v1 = 0;
  bool visible = false;
  bool found = false;  // false: the atlas lacks it
};
// `size_px` matters where sizes are dynamic; elsewhere the font's own size is used and the quad is of that size.
GlyphQuad find_glyph(ImFont& font, float size_px, char32_t c);
float built_size(const ImFont& font, float wanted_px);

// ---- a context without a window (tests) ----

// Sets what a back end would: display size, time step, vertex offsets, and a texture for the atlas.
void headless_frame_begin(float width, float height, float delta_s);
void headless_frame_end();  // honours texture requests after ImGui::Render
void move_pointer(float x, float y);
void press_pointer(int button, bool down);
void turn_wheel(float notches);
// Draw commands that reach outside the display, and the number of vertices, of the last rendered frame.
struct DrawAudit {
  int vertices = 0, commands = 0, outside = 0;
};
DrawAudit audit_draw_data();

// ---- the window's back ends ----

bool start_backends(GLFWwindow* window);
void stop_backends();
void begin_backend_frame();
void fonts_changed();  // the atlas was rebuilt: its texture must be made again (older versions)
void render_backend();
// A list beside those of the context, for a second window whose OpenGL context shares the atlas: begun for a display of this
// size, and rendered into whichever context is current.
void begin_list(ImDrawList& list, float width, float height);
void render_list(ImDrawList& list, float width, float height, float pixels_per_unit);

}  // namespace roofscape::widgets::compat
