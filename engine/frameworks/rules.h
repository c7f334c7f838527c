// Who can run a plan: the rules that launchers and servers have of their own, beyond what any of them needs. A rule is
// one test with its words, the place where the framework states it, and what the nearest plan without it would be.
//
// The rules are those of the versions named in their sources (August 2026). They say that a framework refuses a plan or
// has no way to state it; how well it runs one is not their matter. A plan with an error of its own (diagnose.h) is not
// asked about.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/base/sentence.h"
#include "engine/frameworks/framework.h"
#include "engine/scenario/scenario.h"

namespace roofscape::engine {

// What of a scenario a rule reads, from what a search leaves alone to what it varies last. A search asks each rule no
// oftener than it has to.
enum class RuleReads : std::uint8_t {
  scenario,  // nothing that a search with one combination of settings varies
  mesh,      // the degrees of the mesh besides
  plan,      // anything
};

struct Rule {
  std::string_view id;    // unique within its framework: "heads"
  std::string_view path;  // the field to look at
  RuleReads reads = RuleReads::plan;
  bool (*broken)(const Scenario&) = nullptr;
  Sentence (*words)(const Scenario&) = nullptr;  // of a scenario that breaks it
  std::string_view source;                       // where the framework states it
  // Gives the scenario the nearest knob that keeps the rule; null where it is a matter of the mesh or cannot be helped.
  void (*mend)(Scenario&) = nullptr;
};

// In the order they are tested in.
std::span<const Rule> rules_of(Framework);

// The first rule that keeps the framework from running it; null: it can run.
const Rule* broken_rule(Framework, const Scenario&);
// The same of the rules that read no more, or just as much, as said: for a search.
bool breaks_any(Framework, const Scenario&, RuleReads exactly);

// The launchers and servers that can run a scenario, and of those that can run its model and workload under some plan
// the ones that cannot run this plan. In the order of the enumeration.
struct WhoRuns {
  std::vector<Framework> can, cannot;
};
WhoRuns who_runs(const Scenario&);

// Mends what can be without another mesh, in the order of the rules.
void mend_for(Framework, Scenario&);

// Nodes over which the chips of a mesh are spread evenly, and the chips of each: all of a cluster's node where they fill
// nodes. A slice of a torus counts as nodes of four chips, as many as hang on one host. No nodes: they cannot be.
struct JobSize {
  int nodes = 0, per_node = 0;
};
JobSize job_size(const Scenario&);
// Whether replicas are ranks of one server that have their experts together: attention is shared out among them by
// requests.
bool shares_attention(const Scenario&);
// The ZeRO stage as far as there is anything to shard over; 0 where there is not.
int sharded_stage(const Scenario&);

}  // namespace roofscape::engine
