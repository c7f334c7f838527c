#include "widgets/ui/imgui_compat.h"

#include <imgui_impl_glfw.h>
#include <imgui_impl_opengl3.h>

#include <cmath>

namespace roofscape::widgets::compat {

namespace {
constexpr bool kDynamic = IMGUI_VERSION_NUM >= 19200;
constexpr bool kEventQueue = IMGUI_VERSION_NUM >= 18700;
}  // namespace

void polyline(ImDrawList& list, const ImVec2* points, int count, ImU32 colour, bool closed, float thickness) {
  const ImDrawFlags flags = closed ? ImDrawFlags_Closed : ImDrawFlags_None;
#if IMGUI_VERSION_NUM >= 19280
  list.AddPolyline(points, count, colour, thickness, flags);
#else
  list.AddPolyline(points, count, colour, flags, thickness);
#endif
}

bool dynamic_glyphs() { return kDynamic; }

void clear_fonts(ImFontAtlas& atlas) {
  if (!kDynamic || atlas.Fonts.Size > 0) atlas.Clear();
  atlas.Flags |= ImFontAtlasFlags_NoMouseCursors;
}

ImFont* add_font(ImFontAtlas& atlas, std::span<const FontPart> parts) {
  ImFont* font = nullptr;
  for (const FontPart& part : parts) {
    if (part.data.empty()) continue;
    ImFontConfig config;
    // Only read. Before 1.92 what is not its own is copied by an atlas, 20 MB of a CJK font for each size: it is told so
    // after the font was added.
    config.FontData = const_cast<unsigned char*>(part.data.data());
    config.FontDataSize = static_cast<int>(part.data.size());
    config.FontDataOwnedByAtlas = !kDynamic;
    config.FontNo = part.face_index;
    config.SizePixels = part.size_px;
    config.OversampleH = 3;
    config.OversampleV = 1;
    config.PixelSnapH = false;
    config.MergeMode = font != nullptr;
#if IMGUI_VERSION_NUM < 19200
    if (part.ranges == nullptr || part.ranges->size() < 3) continue;
    config.GlyphRanges = part.ranges->data();
#endif
    ImFont* added = atlas.AddFont(&config);
#if IMGUI_VERSION_NUM < 19200
    atlas.ConfigData.back().FontDataOwnedByAtlas = false;
#endif
    if (font == nullptr) font = added;
  }
  return font;
}

void build_fonts(ImFontAtlas& atlas) {
#if IMGUI_VERSION_NUM < 19200
  atlas.Build();
#else
  (void)atlas;
#endif
}

GlyphQuad find_glyph(ImFont& font, float size_px, char32_t c) {
  GlyphQuad quad;
  if (c > 0xFFFF && sizeof(ImWchar) == 2) return quad;
#if IMGUI_VERSION_NUM >= 19200
  ImFontBaked* baked = font.GetFontBaked(size_px);
  const ImFontGlyph* glyph = baked->FindGlyphNoFallback(static_cast<ImWchar>(c));
  const float ascent = std::round(baked->Ascent);
#else
  (void)size_px;
  const ImFontGlyph* glyph = font.FindGlyphNoFallback(static_cast<ImWchar>(c));
  const float ascent = std::round(font.Ascent);
#endif
  if (glyph == nullptr) return quad;
  quad = {glyph->X0, glyph->Y0 - ascent, glyph->X1, glyph->Y1 - ascent,  glyph->U0,
          glyph->V0, glyph->U1,          glyph->V1, glyph->Visible != 0, true};
  return quad;
}

float built_size(const ImFont& font, float wanted_px) {
#if IMGUI_VERSION_NUM >= 19200
  (void)font;
  return wanted_px;
#else
  (void)wanted_px;
  return font.FontSize;
#endif
}

void headless_frame_begin(float width, float height, float delta_s) {
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.DisplaySize = {width, height};
  io.DeltaTime = delta_s;
  io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
#if IMGUI_VERSION_NUM >= 19200
  io.BackendFlags |= ImGuiBackendFlags_RendererHasTextures;
#else
  if (io.Fonts->TexID == ImTextureID{}) {
    unsigned char* pixels = nullptr;
    int w = 0, h = 0;
    io.Fonts->GetTexDataAsAlpha8(&pixels, &w, &h);
    io.Fonts->SetTexID((ImTextureID)(std::intptr_t)1);  // a pointer or an integer, by version
  }
#endif
  ImGui::NewFrame();
}

void headless_frame_end() {
  ImGui::Render();
#if IMGUI_VERSION_NUM >= 19200
  for (ImTextureData* texture : ImGui::GetPlatformIO().Textures) {
    if (texture->Status == ImTextureStatus_WantCreate) texture->SetTexID(ImTextureID{1});
    if (texture->Status == ImTextureStatus_WantDestroy) {
      texture->SetTexID(ImTextureID_Invalid);
      texture->SetStatus(ImTextureStatus_Destroyed);
    } else if (texture->Status != ImTextureStatus_Destroyed) {
      texture->SetStatus(ImTextureStatus_OK);
    }
  }
#endif
}

void move_pointer(float x, float y) {
  ImGuiIO& io = ImGui::GetIO();
#if IMGUI_VERSION_NUM >= 18700
  io.AddMousePosEvent(x, y);
#else
  io.MousePos = {x, y};
#endif
}

void press_pointer(int button, bool down) {
  ImGuiIO& io = ImGui::GetIO();
#if IMGUI_VERSION_NUM >= 18700
  io.AddMouseButtonEvent(button, down);
#else
  io.MouseDown[button] = down;
#endif
}

void turn_wheel(float notches) {
  ImGuiIO& io = ImGui::GetIO();
#if IMGUI_VERSION_NUM >= 18700
  io.AddMouseWheelEvent(0, notches);
#else
  io.MouseWheel += notches;
#endif
  static_assert(kEventQueue || !kDynamic);
}

DrawAudit audit_draw_data() {
  DrawAudit audit;
  const ImDrawData* data = ImGui::GetDrawData();
  if (data == nullptr) return audit;
  const ImVec2 size = data->DisplaySize;
  for (int i = 0; i < data->CmdListsCount; ++i) {
    const ImDrawList* list = data->CmdLists[i];
    audit.vertices += list->VtxBuffer.Size;
    for (const ImDrawCmd& command : list->CmdBuffer) {
      ++audit.commands;
      const ImVec4 clip = command.ClipRect;
      if (clip.x < -0.5f || clip.y < -0.5f || clip.z > size.x + 0.5f || clip.w > size.y + 0.5f) ++audit.outside;
      // What is drawn under a clip of its own may be longer than that clip.
      const bool whole = clip.x <= 0 && clip.y <= 0 && clip.z >= size.x && clip.w >= size.y;
      if (!whole) continue;
      for (unsigned e = 0; e < command.ElemCount; ++e) {
        const ImDrawVert& v = list->VtxBuffer[static_cast<int>(
            command.VtxOffset + list->IdxBuffer[static_cast<int>(command.IdxOffset + e)])];
        // Half a pixel of fringe may reach over the edge.
        if (!(v.pos.x > -2 && v.pos.y > -2 && v.pos.x < size.x + 2 && v.pos.y < size.y + 2)) ++audit.outside;
      }
    }
  }
  return audit;
}

bool start_backends(GLFWwindow* window) {
  if (!ImGui_ImplGlfw_InitForOpenGL(window, true)) return false;
  return ImGui_ImplOpenGL3_Init("#version 330 core");
}

void stop_backends() {
  ImGui_ImplOpenGL3_Shutdown();
  ImGui_ImplGlfw_Shutdown();
}

void begin_backend_frame() {
  ImGui_ImplOpenGL3_NewFrame();
  ImGui_ImplGlfw_NewFrame();
  ImGui::NewFrame();
}

void fonts_changed() {
#if IMGUI_VERSION_NUM < 19200
  ImGui_ImplOpenGL3_DestroyFontsTexture();
  ImGui_ImplOpenGL3_CreateFontsTexture();
#endif
}

void begin_list(ImDrawList& list, float width, float height) {
  list._ResetForNewFrame();
#if IMGUI_VERSION_NUM >= 19200
  list.PushTexture(ImGui::GetIO().Fonts->TexRef);
#else
  list.PushTextureID(ImGui::GetIO().Fonts->TexID);
#endif
  list.PushClipRect({0, 0}, {width, height});
}

void render_list(ImDrawList& list, float width, float height, float pixels_per_unit) {
  ImDrawData data;
  data.Valid = true;
#if IMGUI_VERSION_NUM >= 18980
  data.CmdLists.push_back(&list);
#else
  ImDrawList* lists[] = {&list};
  data.CmdLists = lists;
#endif
  data.CmdListsCount = 1;
  data.TotalVtxCount = list.VtxBuffer.Size;
  data.TotalIdxCount = list.IdxBuffer.Size;
  data.DisplaySize = {width, height};
  data.FramebufferScale = {pixels_per_unit, pixels_per_unit};
  ImGui_ImplOpenGL3_RenderDrawData(&data);
}

void render_backend() {
  ImGui::Render();
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

}  // namespace roofscape::widgets::compat
