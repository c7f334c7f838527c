// The mesh-map figure: step time, MFU or memory over two mesh axes as a heat map; cells that cannot run are hatched,
// with the reason on hover. Options `axes` (which two) and `quantity`. Cells are tagged "mesh.cell" with their index
// in engine::MeshMap::cells.
#pragma once

#include <array>
#include <vector>

#include "engine/studies/mesh_map.h"
#include "widgets/figure.h"

namespace roofscape::widgets {

void draw_mesh_map(Canvas& canvas, const Rect& area, const FigureInput& input, const FigureView& view);
FigureHead mesh_map_head(const FigureInput& input, const FigureView& view);
std::string mesh_map_data(const FigureInput& input, const FigureView& view);
// The changes that make the scenario a cell's plan; none where there is no such plan, or it is the scenario's own.
std::vector<engine::FieldEdit> mesh_map_edits(const FigureInput& input, const FigureView& view, int cell);

inline constexpr std::array<std::string_view, 3> kMeshMapQuantities{"mfu", "time", "memory"};
inline constexpr std::array kMeshMapOptions{FigureOption{"axes", engine::kMeshPairIds},
                                            FigureOption{"quantity", kMeshMapQuantities}};

}  // namespace roofscape::widgets
