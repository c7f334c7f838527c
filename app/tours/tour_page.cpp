#include "app/tours/tour_page.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "app/core/export.h"
#include "app/tours/guess_mark.h"
#include "app/tours/scene_slide.h"
#include "widgets/canvas/canvas_record.h"

namespace roofscape::app {

namespace {

constexpr float kPictureWidth = 720, kPictureHeight = 440, kPictureEm = 15;

// Colours of the page are those of the figures in it.
std::string css_colour(widgets::Colour c) { return fmt::format("#{:02x}{:02x}{:02x}", c.r, c.g, c.b); }

constexpr std::string_view kStyle = R"(
*{box-sizing:border-box}
body{margin:0 auto;padding:1.5rem;max-width:52rem;font:1.05rem/1.5 "Noto Sans","Noto Sans CJK KR",system-ui,sans-serif;
background:var(--ground);color:var(--ink)}
h1{font-size:1.7rem;margin:.2rem 0}h2{font-size:1.3rem;margin:0 0 .5rem}
section{border-top:1px solid var(--line);padding:1.5rem 0}
img{display:block;width:100%;height:auto;margin:.8rem 0}
.quiet{color:var(--quiet);font-size:.9rem}
.question{font-size:1.15rem;margin:.6rem 0}
.choices{display:flex;flex-direction:column;gap:.4rem;max-width:30rem}
button,input{font:inherit;color:inherit;background:var(--control);border:1px solid var(--edge);border-radius:4px;
padding:.5rem .8rem;text-align:left}
button{cursor:pointer}button:hover:enabled{border-color:var(--ink)}
button:focus-visible,input:focus-visible{outline:3px solid var(--mark);outline-offset:2px}
button[aria-pressed=true]{background:var(--ink);color:var(--ground)}
.right{outline:3px solid var(--good)}
.reveal{margin-top:.8rem}
.answer{font-size:1.5rem;font-weight:bold;margin:.6rem 0 0}
[hidden]{display:none}
.figure{position:relative;touch-action:pan-y}
.figure.open{cursor:crosshair}
.guess,.gap{position:absolute;pointer-events:none;border:0 solid var(--mark)}
.gap{background:var(--mark);opacity:.45}
.guess.x{border-left-width:3px}.guess.y{border-top-width:3px}
.guess.bar{background:color-mix(in srgb,var(--mark) 25%,transparent);border-right-width:3px;border-left-width:0}
input[type=range]{width:100%;max-width:30rem;padding:0}
#score{position:sticky;top:0;background:var(--ground);padding:.4rem 0}
)";

// Everything a scene needs is in its attributes; nothing in the page is made of text by the script.
constexpr std::string_view kScript = R"(
'use strict';
let right=0,answered=0;
const score=document.getElementById('score');
const form=score.dataset.form;
function tell(){score.textContent=form.replace('{0}',right).replace('{1}',answered);}
for(const scene of document.querySelectorAll('section')){
  const buttons=[...scene.querySelectorAll('.choices button')];
  const number=scene.querySelector('input[type=number]');
  const figure=scene.querySelector('.figure');
  const range=scene.querySelector('input[type=range]');
  const output=scene.querySelector('output');
  let set=false;
  const reveal=scene.querySelector('.reveal');
  let chosen=null;
  for(const b of buttons)b.addEventListener('click',()=>{
    chosen=chosen===b?null:b;
    for(const o of buttons)o.setAttribute('aria-pressed',o===chosen);
    if(range){set=false;figure.querySelector('.guess').hidden=true;output.textContent='';}
  });
  const share=i=>{const d=figure.dataset,n=Number(range.max);return Number(d.begin)+(Number(d.end)-Number(d.begin))*i/n;};
  const lay=(e,from,to)=>{
    const d=figure.dataset,low=Math.min(from,to),high=Math.max(from,to),pc=v=>100*v+'%';
    if(d.axis==='x'){e.style.left=pc(low);e.style.width=pc(high-low);e.style.top=pc(d.low);e.style.height=pc(d.high-d.low);}
    else{e.style.top=pc(low);e.style.height=pc(high-low);e.style.left=pc(d.low);e.style.width=pc(d.high-d.low);}
  };
  const guess=()=>{
    set=true;chosen=null;
    for(const o of buttons)o.setAttribute('aria-pressed',false);
    const g=figure.querySelector('.guess'),at=share(Number(range.value));
    g.hidden=false;
    lay(g,figure.dataset.bar?Number(figure.dataset.begin):at,at);
    output.textContent=figure.dataset.form.replace('{0}',figure.dataset.texts.split('|')[range.value]);
  };
  if(range){
    range.addEventListener('input',guess);
    const point=e=>{
      const r=figure.getBoundingClientRect(),d=figure.dataset;
      const at=d.axis==='x'?(e.clientX-r.left)/r.width:(e.clientY-r.top)/r.height;
      const i=(at-Number(d.begin))/(Number(d.end)-Number(d.begin))*Number(range.max);
      range.value=Math.round(Math.min(Math.max(i,0),Number(range.max)));
      guess();
    };
    figure.addEventListener('pointerdown',e=>{
      if(range.disabled)return;
      e.preventDefault();figure.setPointerCapture(e.pointerId);point(e);
    });
    figure.addEventListener('pointermove',e=>{if(!range.disabled&&figure.hasPointerCapture(e.pointerId))point(e);});
  }
  reveal.addEventListener('click',()=>{
    for(const e of scene.querySelectorAll('.before'))e.hidden=true;
    for(const e of scene.querySelectorAll('.after'))e.hidden=false;
    for(const b of buttons){b.disabled=true;if(b.dataset.right)b.classList.add('right');}
    let good=null;
    if(range){
      range.disabled=true;
      figure.classList.remove('open');
      if(set){
        const d=figure.dataset,gap=figure.querySelector('.gap');
        good=Number(range.value)>=Number(d.rightFrom)&&Number(range.value)<=Number(d.rightTo);
        gap.hidden=false;
        lay(gap,share(Number(range.value)),Number(d.answer));
      }
    }
    if(chosen)good=!!chosen.dataset.right;
    else if(number&&number.value!==''){
      const a=Number(number.dataset.answer);
      number.disabled=true;
      good=Math.abs(Number(number.value)-a)<=Math.abs(a)/4;
    }
    if(good!==null){
      answered++;if(good)right++;
      scene.querySelector(good?'.was-right':'.was-wrong').hidden=false;
      tell();
    }
  });
}
tell();
)";

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t k) {
      return i + k < bytes.size() ? static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i + k])) : 0U;
    };
    const std::uint32_t group = byte(0) << 16 | byte(1) << 8 | byte(2);
    for (std::size_t k = 0; k < 4; ++k) out += i + k > bytes.size() ? '=' : kDigits[group >> (18 - 6 * k) & 63];
  }
  return out;
}

io::Result<std::string> picture(const SceneFigures& figures, const std::string& title,
                                const widgets::FontStack& fonts) {
  ExportOptions form;
  form.width = kPictureWidth;
  form.height = kPictureHeight;
  form.em = kPictureEm;
  widgets::FigureHead head;
  head.title = title;
  const Drawing drawing{head, figures.theme, form,
                        [&](widgets::Canvas& canvas, const widgets::Rect&, const widgets::HeadParts&) {
                          draw_scene_figures(canvas, canvas.bounds().inset(canvas.em()), figures);
                        },
                        [] { return std::string(); }};
  return drawing_bytes(drawing, FileFormat::svg, form, fonts);
}

std::string image(std::string_view part, const std::string& svg, std::string_view words, bool hidden) {
  return fmt::format("<img class=\"{}\"{} alt=\"{}\" src=\"data:image/svg+xml;base64,{}\">\n", part,
                     hidden ? " hidden" : "", html_text(words), base64(svg));
}

// Where the guess is set on the picture: shares of the picture, and by step of the slider what it would be.
struct PictureGuess {
  bool along_x = false, bar = false;
  float begin = 0, end = 1, low = 0, high = 1, answer = 0;
  std::vector<std::string> texts;
  std::size_t right_from = 1, right_to = 0;
};
constexpr std::size_t kGuessSteps = 120;

std::optional<PictureGuess> picture_guess(SceneFigures figures, const widgets::FontStack& fonts) {
  const io::TourMark& mark = figures.scene.mark;
  if (mark.kind == io::TourMark::Kind::none) return std::nullopt;
  const widgets::Rect whole{0, 0, kPictureWidth, kPictureHeight};
  const widgets::RecordCanvas canvas(fonts, kPictureEm, whole);
  widgets::HeldAxes axes;
  figures.axes = &axes;
  const widgets::Rect area =
      figure_rest(canvas, figure_places(canvas, whole.inset(kPictureEm), figures.scene.figures.size()).front());
  const auto place = mark_place(canvas, area, figures);
  const auto answer = figures.values.answer();
  if (!place || !answer) return std::nullopt;
  PictureGuess out;
  out.along_x = place->along_x;
  out.bar = mark.kind == io::TourMark::Kind::bar;
  const widgets::Scale& axis = out.along_x ? place->frame.x : place->frame.y;
  const float length = out.along_x ? kPictureWidth : kPictureHeight;
  out.begin = static_cast<float>(axis.begin()) / length;
  out.end = static_cast<float>(axis.end()) / length;
  out.answer = place->position(place->answer) / length;
  out.low = out.along_x ? place->band.y / kPictureHeight : place->frame.plot.x / kPictureWidth;
  out.high = out.along_x ? place->band.bottom() / kPictureHeight : place->frame.plot.right() / kPictureWidth;
  for (std::size_t i = 0; i <= kGuessSteps; ++i) {
    const auto at =
        static_cast<float>(axis.begin() + (axis.end() - axis.begin()) * static_cast<double>(i) / kGuessSteps);
    const auto guess = figures.values.answer_at(place->value({at, at}));
    out.texts.push_back(guess ? figures.values.guess_text(*guess, figures.texts) : std::string());
    if (!guess || std::abs(*guess - answer->value) > std::abs(answer->value) * kRightWithin) continue;
    if (out.right_from > out.right_to) out.right_from = i;
    out.right_to = i;
  }
  return out;
}

std::string figure_open(const PictureGuess& guess, const widgets::TextTable& texts) {
  std::string all;
  for (const std::string& one : guess.texts) all += (all.empty() ? "" : "|") + one;
  return fmt::format(
      "<div class=\"figure open\" data-axis=\"{}\"{} data-begin=\"{:.4f}\" data-end=\"{:.4f}\" data-low=\"{:.4f}\" "
      "data-high=\"{:.4f}\" data-answer=\"{:.4f}\" data-right-from=\"{}\" data-right-to=\"{}\" data-form=\"{}\" "
      "data-texts=\"{}\">\n",
      guess.along_x ? "x" : "y", guess.bar ? " data-bar=\"1\"" : "", guess.begin, guess.end, guess.low, guess.high,
      guess.answer, guess.right_from, guess.right_to, html_text(texts.text("tour.guess")), html_text(all));
}
std::string figure_close(const PictureGuess& guess, const widgets::TextTable& texts, const std::string& question) {
  return fmt::format(
      "<div class=\"guess {}\" hidden></div><div class=\"gap\" hidden></div>\n</div>\n"
      "<p class=\"quiet before\">{}</p>\n<input type=\"range\" min=\"0\" max=\"{}\" aria-label=\"{}\"> "
      "<output></output>\n",
      guess.bar       ? "bar"
      : guess.along_x ? "x"
                      : "y",
      html_text(texts.text("tour.page.guess")), kGuessSteps, html_text(question));
}

std::string paragraph(std::string_view classes, std::string_view words, bool hidden = false) {
  if (words.empty()) return {};
  return fmt::format("<p class=\"{}\"{}>{}</p>\n", classes, hidden ? " hidden" : "", html_text(words));
}

}  // namespace

std::string html_text(std::string_view text) {
  constexpr std::string_view kSpecial = "&<>\"'";
  constexpr std::array<std::string_view, kSpecial.size()> kEntities{"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
  std::string out;
  for (const char c : text) {
    const std::size_t at = kSpecial.find(c);
    if (at == std::string_view::npos)
      out += c;
    else
      out += kEntities[at];
  }
  return out;
}

io::Result<std::string> tour_page(const io::Tour& tour, const io::PresetLibrary& library,
                                  const widgets::TextTable& texts, const widgets::Theme& theme,
                                  const widgets::FontStack& fonts) {
  const std::string language(language_of(texts)), title(tour.title.in(language));
  std::string out = fmt::format("<!DOCTYPE html>\n<html lang=\"{}\">\n<head>\n<meta charset=\"utf-8\">\n", language);
  out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  out += fmt::format("<title>{}</title>\n<style>\n", html_text(title));
  out += fmt::format(":root{{--ground:{};--ink:{};--quiet:{};--line:{};--edge:{};--control:{};--mark:{};--good:{}}}",
                     css_colour(theme.panel), css_colour(theme.ink), css_colour(theme.ink2), css_colour(theme.line),
                     css_colour(theme.edge), css_colour(theme.ctl), css_colour(theme.stroke(widgets::Hue::yellow)),
                     css_colour(theme.ok));
  out.append(kStyle).append("</style>\n</head>\n<body>\n");
  out += fmt::format("<h1>{}</h1>\n", html_text(title));
  out += paragraph("quiet", tour.about.in(language));
  out += fmt::format("<p id=\"score\" class=\"quiet\" data-form=\"{}\"></p>\n", html_text(texts.text("tour.score")));
  TourPlay play(tour);
  for (std::size_t i = 0; i < tour.scenes.size(); ++i) {
    const io::TourScene& scene = tour.scenes[i];
    const SceneValues values(scene, library);
    play.go_to(i);
    const SlideText asked = slide_text(play, values, texts);
    play.reveal();
    const SlideText told = slide_text(play, values, texts);
    out += fmt::format("<section id=\"{}\">\n<h2>{}. {}</h2>\n", html_text(scene.id), i + 1, html_text(asked.title));
    out += paragraph("quiet before", asked.plan) + paragraph("quiet after", told.plan, true);
    widgets::StudyCache kept;
    const auto guess = picture_guess({scene, values, texts, theme, library, kept, false}, fonts);
    if (guess) out += figure_open(*guess, texts);
    for (const bool answer : {false, true}) {
      widgets::StudyCache studies;
      const auto svg = picture({scene, values, texts, theme, library, studies, answer}, asked.title, fonts);
      if (!svg) return svg.error();
      out += image(answer ? "after" : "before", svg.value(), answer ? told.sentence : asked.question, answer);
    }
    if (guess) out += figure_close(*guess, texts, asked.question);
    out += paragraph("context", asked.context) + paragraph("question", asked.question);
    out += "<div class=\"choices\">\n";
    for (std::size_t k = 0; k < asked.choices.size(); ++k)
      out += fmt::format("<button type=\"button\" aria-pressed=\"false\"{}>{}</button>\n",
                         scene.choices[k].right ? " data-right=\"1\"" : "", html_text(asked.choices[k]));
    if (const auto answer = values.answer(); asked.choices.empty() && answer && !guess) {
      const bool share = answer->unit.notation == engine::Notation::percent;
      out += fmt::format(
          "<input type=\"number\" step=\"any\" data-answer=\"{}\" aria-label=\"{}\" placeholder=\"{}\">\n",
          share ? 100 * answer->value : answer->value, html_text(asked.question),
          share ? "%" : html_text(answer->unit.symbol));
    }
    out += fmt::format("</div>\n<button type=\"button\" class=\"reveal before\">{}</button>\n",
                       html_text(texts.text("tour.page.reveal")));
    out += "<div class=\"after\" hidden aria-live=\"polite\">\n";
    out += paragraph("answer", told.answer);
    out += paragraph("was-right", texts.text("tour.page.right"), true);
    out += paragraph("was-wrong", texts.text("tour.page.wrong"), true);
    out += paragraph("sentence", told.sentence) + paragraph("quiet", told.source) + "</div>\n</section>\n";
  }
  out.append("<script>").append(kScript).append("</script>\n</body>\n</html>\n");
  return out;
}

}  // namespace roofscape::app
