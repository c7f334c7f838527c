#include "app/session/pinned.h"

#include <utility>

#include "engine/evaluate/evaluate.h"

namespace roofscape::app {

Pinned::Pinned(engine::Scenario s) : scenario(std::move(s)), report(engine::evaluate(scenario)) {}

}  // namespace roofscape::app
