// The tree that the paths of the field table span, for readers and messages. For the .cpp files of engine/io.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/sentence.h"
#include "engine/scenario/scenario.h"

namespace roofscape::io {

// The lists of a scenario that the field table does not have.
inline constexpr std::string_view kLayersPath = "pipeline.layers_per_stage", kLayersMember = "layers_per_stage";
inline constexpr std::string_view kOrderPath = "pipeline.order", kOrderMember = "order";
// What `order` stands for, where that is not the plan's schedule and reading it could take it for that.
inline constexpr std::string_view kOrderSchedulePath = "pipeline.order_schedule",
                                  kOrderScheduleMember = "order_schedule";

// Members known directly under a path ("" is the top): those of the table and, at the top, name, model and so on.
std::vector<std::string_view> known_members(std::string_view path);

// The field that a name means: the last part of its path is near, or one of the words which that is made of, or the two
// share a word that no other field has ("batch" of a plan that trains: workload.global_batch_sequences). Of the fields
// of this kind of workload, where one is given; empty: none is like it.
std::string_view field_like(std::string_view name, std::optional<engine::WorkloadKind> kind);

// What to say about a path that is not known: the nearest member of the same object, or a field elsewhere that the
// member is like.
engine::Sentence unknown_field_remedy(std::string_view parent, std::string_view member,
                                      std::optional<engine::WorkloadKind> kind = {});

}  // namespace roofscape::io
