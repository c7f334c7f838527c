#include "app/panels/diagnostic_words.h"

#include "app/core/strings.h"
#include "app/panels/field_text.h"
#include "engine/evaluate/offers.h"
#include "widgets/figures/common/evidence_text.h"

namespace roofscape::app {

using namespace widgets;

const engine::Diagnostic* finding_of(const PanelContext& ctx, std::string_view path) {
  const engine::Diagnostic* worst = nullptr;
  for (const engine::Diagnostic& d : ctx.session.report().diagnostics)
    if (d.field_path == path && d.severity != engine::Severity::note &&
        (worst == nullptr || d.severity < worst->severity))
      worst = &d;
  return worst;
}

Mark mark_of(engine::Severity severity) {
  switch (severity) {
    case engine::Severity::error:
      return Mark::error;
    case engine::Severity::warning:
      return Mark::warning;
    case engine::Severity::note:
      return Mark::note;
  }
  return Mark::note;
}

const engine::Diagnostic* worst_diagnostic(const engine::Report& report) {
  const engine::Diagnostic* worst = nullptr;
  for (const engine::Diagnostic& d : report.diagnostics)
    if (worst == nullptr || d.severity < worst->severity) worst = &d;
  return worst;
}

std::string diagnostic_title(const PanelContext& ctx, const engine::Diagnostic& d) {
  const std::string key = "diagnostic." + std::string(d.code) + ".title";
  return std::string(ctx.text(ctx.ui.texts.has(key) ? key : std::string(d.code)));
}

std::string diagnostic_text(const PanelContext& ctx, const engine::Diagnostic& d) {
  return diagnostic_text(d, ctx.ui.texts);
}

std::string fix_pairs(const PanelContext& ctx, const engine::Diagnostic& d) {
  const engine::Scenario& now = ctx.session.scenario();
  if (ctx.evidence == nullptr || now.assumptions.mode == engine::Mode::custom) return {};
  return widgets::pairs_text(ctx.ui.texts, &ctx.evidence->of(now.assumptions.mode), now,
                             engine::after_fix(now, d.fix));
}

std::string fix_label(const PanelContext& ctx, const engine::Diagnostic& d) {
  std::string label;
  for (const engine::FieldEdit& edit : d.fix) {
    if (edit.field == nullptr) continue;
    if (!label.empty()) label += ", ";
    label += field_label(ctx, edit.field->path) + " " + field_value(ctx, *edit.field, edit.value);
  }
  return ctx.format("ui.diagnostics.set", {label});
}

}  // namespace roofscape::app
