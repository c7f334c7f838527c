// The model of a MaxText configuration: its name, or its base_* sizes with the defaults of base.yml. For the .cpp files of
// engine/io.
#pragma once

#include "engine/io/import/key_reader.h"
#include "engine/io/import/launch_plan.h"
#include "engine/io/presets/preset_library.h"

namespace roofscape::io {

// Fills plan.model or plan.shape. The shape as far as it is known, for what the plan derives from it (layers of stages,
// tensors that checkpointing keeps); n_layers 0: not known. `whole_plan`: the keys are those of a run, which without any
// model has MaxText's default one.
engine::TransformerShape read_maxtext_model(KeyReader& keys, LaunchPlan& plan, const PresetLibrary& library,
                                            bool whole_plan);

}  // namespace roofscape::io
