#include "app/core/figure_page.h"

#include <fmt/format.h>

#include "engine/io/scenario/figure_file.h"
#include "widgets/canvas/canvas_svg.h"

namespace roofscape::app {
namespace {

constexpr std::string_view kStyle = R"(
body {{ margin: 0; background: {panel}; color: {ink}; font: 16px/1.4 "Noto Sans", sans-serif; }}
main {{ max-width: 72rem; margin: 0 auto; padding: 1rem; }}
svg {{ display: block; width: 100%; height: auto; }}
form {{ display: flex; gap: 1rem; align-items: center; margin-top: 1rem; }}
input {{ flex: 1; accent-color: {ink}; }}
output {{ font-weight: 700; min-width: 6em; }}
#readout {{ position: fixed; max-width: 24rem; padding: 0.5rem 0.75rem; border: 1px solid {edge}; background: {panel};
  font-size: 14px; white-space: pre-line; pointer-events: none; }}
[hidden] {{ display: none; }}
)";

// Without it the readouts are titles, which browsers show by themselves, and the first frame stands alone.
constexpr std::string_view kScript = R"(
const frames = [...document.querySelectorAll('.frame')], slider = document.querySelector('input');
if (slider) {
  const show = () => {
    frames.forEach((frame, i) => frame.hidden = i !== slider.valueAsNumber);
    document.querySelector('output').textContent = frames[slider.valueAsNumber].dataset.label;
  };
  slider.addEventListener('input', show);
  show();
}
for (const region of document.querySelectorAll('[data-tag]')) {
  const title = region.querySelector('title');
  if (!title) continue;
  region.dataset.words = title.textContent;
  title.remove();
}
const readout = document.getElementById('readout');
addEventListener('pointermove', (event) => {
  const words = event.target.dataset && event.target.dataset.words;
  readout.hidden = !words;
  if (!words) return;
  readout.textContent = words;
  const right = event.clientX + 16 + readout.offsetWidth > innerWidth, low = event.clientY + 16 + readout.offsetHeight > innerHeight;
  readout.style.left = (right ? event.clientX - 16 - readout.offsetWidth : event.clientX + 16) + 'px';
  readout.style.top = (low ? event.clientY - 16 - readout.offsetHeight : event.clientY + 16) + 'px';
});
)";

// JSON that neither ends the element it stands in nor begins a comment there.
std::string in_script(std::string_view json) {
  std::string out;
  for (const char c : json) out += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return out;
}

}  // namespace

std::string figure_page(const FigurePage& page, std::span<const PageFrame> frames) {
  std::string out =
      fmt::format("<!DOCTYPE html>\n<html lang=\"{}\">\n<head>\n<meta charset=\"utf-8\">\n", page.language);
  out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  out += fmt::format("<title>{}</title>\n<style>", widgets::xml_escaped(page.title));
  out += fmt::format(fmt::runtime(kStyle), fmt::arg("panel", widgets::to_hex(page.theme.panel)),
                     fmt::arg("ink", widgets::to_hex(page.theme.ink)),
                     fmt::arg("edge", widgets::to_hex(page.theme.edge)));
  out += "</style>\n</head>\n<body>\n<main>\n";
  for (std::size_t i = 0; i < frames.size(); ++i)
    out += fmt::format("<div class=\"frame\" data-label=\"{}\"{}>\n{}</div>\n", widgets::xml_escaped(frames[i].label),
                       i == 0 ? "" : " hidden", frames[i].svg);
  if (frames.size() > 1)
    out += fmt::format(
        "<form><label for=\"value\">{}</label><input id=\"value\" type=\"range\" min=\"0\" max=\"{}\" value=\"0\" "
        "step=\"1\"><output for=\"value\">{}</output></form>\n",
        widgets::xml_escaped(page.varied), frames.size() - 1, widgets::xml_escaped(frames.front().label));
  out += "<div id=\"readout\" hidden></div>\n</main>\n";
  if (!page.record.empty())
    out += fmt::format("<script type=\"application/json\" id=\"{}\">{}</script>\n", io::kFigureKeyword,
                       in_script(page.record));
  out += fmt::format("<script>{}</script>\n</body>\n</html>\n", kScript);
  return out;
}

}  // namespace roofscape::app
