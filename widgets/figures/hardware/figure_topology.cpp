// Topology: how the mesh lies on the wires. A torus is drawn as its slice, links in the colours of the mesh axes that
// span them; switched chips as ranks on a logarithmic axis, each mesh axis a bar from its stride to its reach, over
// the bands of node and fabric. Beside it every axis with its degree, its links and their bandwidth.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "widgets/canvas/number_format.h"
#include "widgets/figures/common/claims.h"
#include "widgets/figures/common/empty_state.h"
#include "widgets/figures/common/figure_head.h"
#include "widgets/figures/common/figure_row.h"
#include "widgets/figures/common/quantity_look.h"
#include "widgets/figures/hardware/figure_topology_parts.h"
#include "widgets/plot/plot.h"

namespace roofscape::widgets {

using engine::AxisPlacement;
using engine::LinkTier;
using namespace topology;

namespace topology {
namespace {

std::string links_of(const FigureInput& input, const AxisPlacement& p) {
  const TextTable& t = input.texts;
  if (p.tier == LinkTier::ici) {
    const std::string count = t.count("figure.topology.links.ici", p.torus_axes);
    return p.on == engine::TorusAxes::automatic
               ? count
               : t.format("figure.topology.links.on",
                          {count, std::string(engine::kTorusAxesIds[static_cast<std::size_t>(p.on)])});
  }
  if (p.tier == LinkTier::nvlink) return std::string(t.text("figure.topology.links.nvlink"));
  if (p.tier == LinkTier::dcn) return std::string(t.text("figure.topology.links.dcn"));
  if (p.tier != LinkTier::fabric) return std::string(t.text("figure.topology.links.none"));
  return t.format("figure.topology.links.fabric", {format_count(p.across_nodes)});
}

// What the bandwidth of an axis is of: stages send to the next one, tokens go to all experts, all else is gathered.
std::string_view rate_key(engine::Axis axis) {
  if (axis == engine::Axis::pipeline) return "figure.topology.rate.send";
  return axis == engine::Axis::expert ? "figure.topology.rate.exchange" : "figure.topology.rate.gather";
}

}  // namespace

std::vector<AxisRow> axis_rows(const FigureInput& input) {
  std::vector<AxisRow> out;
  for (const engine::Axis axis : {engine::Axis::tensor, engine::Axis::expert, engine::Axis::context,
                                  engine::Axis::fsdp, engine::Axis::data, engine::Axis::pipeline})
    for (const AxisPlacement& p : input.report.placement) {
      if (p.axis != axis || p.degree <= 1) continue;
      AxisRow row;
      row.placement = &p;
      row.look = look_of(p.axis);
      row.name = input.texts.format("figure.axis." + std::string(engine::kAxisIds[p.axis]), {format_count(p.degree)});
      row.links = links_of(input, p);
      row.rate =
          p.bandwidth_bytes_per_s > 0
              ? input.texts.format(rate_key(p.axis), {format(p.bandwidth_bytes_per_s, engine::unit::bytes_per_s)})
              : std::string(input.texts.text("figure.topology.idle"));
      out.push_back(std::move(row));
    }
  return out;
}

std::string tag_of(const AxisRow& row) {
  return fmt::format("links.bytes_per_s[{}]", engine::kAxisIds[row.placement->axis]);
}

Readout readout_of(const FigureInput& input, const AxisRow& row) {
  const AxisPlacement& p = *row.placement;
  Readout r;
  r.title = row.name;
  const auto add = [&](std::string_view key, std::string value) {
    r.rows.emplace_back(std::string(input.texts.text(key)), std::move(value));
  };
  add("figure.topology.column.links", row.links);
  add("figure.topology.column.rate", row.rate);
  if (p.group > p.degree) add("figure.topology.group", format_count(p.group));
  if (p.tier == LinkTier::fabric) add("figure.topology.inside", format_count(p.inside_node));
  if (p.tier == LinkTier::ici) {
    add("figure.topology.closed", format_count(p.torus_axes - p.open_axes));
  }
  return r;
}

}  // namespace topology

namespace {

FigureHead topology_head(const FigureInput& input, const FigureView&) {
  FigureHead head;
  head.title = input.texts.text("figure.topology.title");
  const std::vector<AxisRow> rows = axis_rows(input);
  const AxisRow* slowest = nullptr;
  for (const AxisRow& row : rows)
    if (row.placement->bandwidth_bytes_per_s > 0 &&
        (slowest == nullptr || row.placement->bandwidth_bytes_per_s < slowest->placement->bandwidth_bytes_per_s))
      slowest = &row;
  if (slowest == nullptr) return head;
  const std::string only = rows.size() > 1 ? "" : ".only";  // there is nothing it is the slowest of
  const std::string name = say(head, name_claim(slowest->name)),
                    rate = say(head, data_claim("bytes/s", slowest->placement->bandwidth_bytes_per_s, slowest->rate));
  head.takeaway =
      input.texts.format("figure.topology.takeaway" + only, {name, rate, say(head, name_claim(slowest->links))});
  head.brief = input.texts.format("figure.topology.brief" + only, {name, rate});
  return head;
}

void draw_topology(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view) {
  const Rect rest = draw_figure_head(canvas, area, input, view, topology_head(input, view));
  const std::vector<AxisRow> rows = axis_rows(input);
  if (rows.empty()) {
    draw_empty_state(canvas, input.theme, rest, input.texts.text("figure.topology.one"));
    return;
  }
  if (input.scenario.cluster.chip.interconnect == engine::Interconnect::torus)
    draw_torus(canvas, rest, input, rows);
  else
    draw_switched(canvas, rest, input, rows);
}

std::string topology_data(const FigureInput& input, const FigureView&) {
  std::string out = "axis\tdegree\tlinks\ttorus axes\tin a node\tnodes\tbytes/s\n";
  for (const AxisRow& row : axis_rows(input)) {
    const AxisPlacement& p = *row.placement;
    out += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\n", engine::kAxisIds[p.axis], p.degree, row.links, p.torus_axes,
                       p.inside_node, p.across_nodes, p.bandwidth_bytes_per_s);
  }
  return out;
}

}  // namespace

extern constinit const FigureRow topology_figure{
    .name = "topology",
    .subject = Subject::any,
    .about = About::cluster,
    .height_pt = 255.1f,
    .head = topology_head,
    .draw = draw_topology,
    .data = topology_data,
};

}  // namespace roofscape::widgets
