// Searches beside the window: the newest request wins, results keep what they belong to, nothing waits on a clock.
#include <doctest/doctest.h>

#include <memory>
#include <thread>

#include "app/session/search_job.h"
#include "engine/io/presets/preset_library.h"
#include "engine/io/scenario/scenario_json.h"
#include "engine/scenario/mesh_size.h"
#include "tests/app/jobs/memory_limit.h"
#include "tests/english.h"

using namespace roofscape;
using app::SearchJob;
using app::SearchOutcome;
using engine::Scenario;
using engine::SearchRequest;

namespace {

const Scenario& small() {
  static const io::PresetLibrary library;
  static const Scenario scenario = io::load_scenario("llama3-8b-8-h100", library).value();
  return scenario;
}
const Scenario& large() {
  static const io::PresetLibrary library;
  static const Scenario scenario = io::load_scenario("llama3-405b-16k-h100-8k", library).value();
  return scenario;
}
Scenario with_batch(const Scenario& s, int sequences) {
  Scenario other = s;
  other.workload.global_batch_sequences = sequences;
  return other;
}
SearchRequest request_of(const Scenario& s) {
  SearchRequest request;
  request.space = engine::space_of(s);
  request.sample = 50;
  return request;
}

}  // namespace

TEST_CASE("a search beside the window finds what a search in place finds") {
  const SearchRequest request = request_of(small());
  const engine::SearchResult here = engine::search(small(), request);
  SearchJob job(2);
  job.ask(small(), request, false);
  job.wait();
  const auto found = job.latest();
  REQUIRE(found);
  CHECK(found->result.plans == here.plans);
  CHECK(found->result.rejected == here.rejected);
  REQUIRE(found->result.best.size() == here.best.size());
  for (std::size_t i = 0; i < here.best.size(); ++i) CHECK(found->result.best[i].plan == here.best[i].plan);
  REQUIRE(found->result.sample.size() == here.sample.size());
  for (std::size_t i = 0; i < here.sample.size(); ++i) CHECK(found->result.sample[i].plan == here.sample[i].plan);
}

TEST_CASE("a result keeps the scenario and the request it belongs to") {
  SearchJob job(1);
  const SearchRequest request = request_of(small());
  job.ask(small(), request, false);
  job.wait();
  CHECK(job.latest()->query.scenario == small());
  CHECK(job.latest()->query.request == request);
}

TEST_CASE("of requests that come faster than they are answered the newest is answered last") {
  SearchJob job(2);
  for (const bool held : {false, true}) {
    for (int batch = 64; batch <= 1024; batch *= 2) job.ask(with_batch(large(), batch), request_of(large()), held);
    job.ask(with_batch(small(), held ? 32 : 64), request_of(small()), held);
    job.wait();
    CHECK(job.latest()->query.scenario == with_batch(small(), held ? 32 : 64));
  }
  // Of the twelve some were replaced while they waited; how many depends on when the worker gets its turn.
  CHECK(job.started() < 12);
}

TEST_CASE("while another scenario is searched, what is known is ranked for it") {
  SearchJob job(1);
  job.ask(large(), request_of(large()), false);
  job.wait();
  CHECK_FALSE(job.so_far());
  const Scenario other = with_batch(large(), large().workload.global_batch_sequences / 2);
  std::shared_ptr<const SearchOutcome> so_far;
  // The search may be done first; then it is asked for the other again.
  for (int i = 0; i < 8 && !so_far; ++i) {
    job.ask(i % 2 == 0 ? other : large(), request_of(large()), false);
    while (job.state() == SearchJob::State::running && !so_far) {
      std::this_thread::yield();
      so_far = job.so_far();
    }
    job.wait();
  }
  REQUIRE(so_far);
  CHECK_FALSE(so_far->result.is_whole());
  CHECK_FALSE(so_far->counted());
  CHECK(so_far->query.request == request_of(large()));
  CHECK_FALSE(so_far->result.best.empty());
  CHECK_FALSE(job.so_far());
}

namespace {

// Asks until the list has been seen before the rest; null: it never was.
std::shared_ptr<const SearchOutcome> list_before_the_rest(SearchJob& job, const Scenario& s, const Scenario& other) {
  for (int i = 0; i < 20; ++i) {
    const Scenario& asked = i % 2 == 0 ? s : other;
    job.ask(asked, request_of(asked), false);
    while (job.state() == SearchJob::State::running) {
      std::this_thread::yield();
      if (const auto seen = job.so_far(); seen && seen->listed() && i % 2 == 0) return seen;
    }
    job.wait();
  }
  return nullptr;
}

}  // namespace

TEST_CASE("the list is told before the rest is counted, and is the list") {
  SearchJob job(2);
  const Scenario other = with_batch(large(), large().workload.global_batch_sequences / 2);
  const auto list = list_before_the_rest(job, large(), other);
  REQUIRE(list);
  CHECK(list->query.scenario == large());
  CHECK_FALSE(list->counted());
  CHECK(list->finished());
  job.wait();
  const engine::SearchResult& whole = job.latest()->result;
  REQUIRE(job.latest()->counted());
  REQUIRE(list->result.best.size() == whole.best.size());
  for (std::size_t i = 0; i < whole.best.size(); ++i) {
    CHECK(list->result.best[i].plan == whole.best[i].plan);
    CHECK(list->result.best[i].step_time_s == whole.best[i].step_time_s);
  }
  REQUIRE(list->result.front.size() == whole.front.size());
  for (std::size_t i = 0; i < whole.front.size(); ++i) CHECK(list->result.front[i].plan == whole.front[i].plan);
  CHECK(list->result.present_rank == whole.present_rank);
}

TEST_CASE("a search that is stopped behind its list leaves the list, and is begun anew when it is asked again") {
  SearchJob job(2);
  const Scenario other = with_batch(large(), large().workload.global_batch_sequences / 2);
  std::shared_ptr<const SearchOutcome> left;
  for (int i = 0; i < 20 && !left; ++i) {  // the rest may be there before it is stopped
    if (!list_before_the_rest(job, large(), other)) break;
    job.cancel();
    job.wait();
    if (job.latest()->listed()) left = job.latest();
    job.again();
  }
  REQUIRE(left);
  CHECK(left->query.scenario == large());
  CHECK_FALSE(left->result.best.empty());
  job.ask(large(), request_of(large()), false);
  job.wait();
  CHECK(job.latest()->counted());
}

TEST_CASE("a search without memory is given up and says why, and the next one finds what it would have") {
  SearchJob job(2);
  const SearchRequest request = request_of(large());  // and the presets, read before memory is short
  {
    const test::MemoryLimit limit(20'000);
    job.ask(large(), request, false);
    job.wait();
  }
  CHECK_FALSE(job.latest());
  CHECK(job.state() == SearchJob::State::cancelled);
  const auto problem = job.take_problem();
  REQUIRE(problem);
  CHECK(test::in_english(*problem) == "out of memory; close other programs, or ask for less at once");
  CHECK_FALSE(job.take_problem());
  job.again();
  job.ask(large(), request_of(large()), false);
  job.wait();
  REQUIRE(job.latest());
  CHECK(job.latest()->result.best.front().plan == engine::search(large(), request_of(large())).best.front().plan);
}

TEST_CASE("asking again for what was found starts nothing") {
  SearchJob job(1);
  job.ask(small(), request_of(small()), false);
  job.wait();
  job.ask(small(), request_of(small()), false);
  job.wait();
  CHECK(job.started() == 1);
}

TEST_CASE("a choice of the present plan that the space covers starts no search") {
  SearchJob job(1);
  job.ask(small(), request_of(small()), false);
  job.wait();
  Scenario other = small();
  other.checkpointing.policy = engine::CheckpointPolicy::none;
  other.parallelism.tensor *= 2, other.parallelism.fsdp /= 2;
  other.pipeline.microbatch_sequences *= 2;
  REQUIRE(engine::mesh_chips(other.parallelism) == engine::mesh_chips(small().parallelism));
  job.ask(other, request_of(small()), false);
  CHECK(job.state() == SearchJob::State::idle);
  CHECK(job.started() == 1);
  const SearchOutcome placed = app::with_present(*job.latest(), other);
  const engine::SearchResult wanted = engine::search(other, request_of(small()));
  CHECK(placed.query.scenario == other);
  CHECK(placed.result.present.plan == wanted.present.plan);
  CHECK(placed.result.present.step_time_s == wanted.present.step_time_s);
  CHECK(placed.result.present_rank == wanted.present_rank);
  CHECK(placed.result.best.front().plan == wanted.best.front().plan);
}

TEST_CASE("a search after another has the result it has alone") {
  SearchJob job(2), alone(1);
  const Scenario after = with_batch(small(), 48);
  job.ask(small(), request_of(small()), false);
  job.wait();
  job.ask(after, request_of(small()), false);
  job.wait();
  alone.ask(after, request_of(small()), false);
  alone.wait();
  const engine::SearchResult &a = job.latest()->result, &b = alone.latest()->result;
  CHECK(job.started() == 2);
  CHECK(a.rejected == b.rejected);
  REQUIRE(a.best.size() == b.best.size());
  for (std::size_t i = 0; i < a.best.size(); ++i) CHECK(a.best[i].plan == b.best[i].plan);
  REQUIRE(a.front.size() == b.front.size());
  for (std::size_t i = 0; i < a.front.size(); ++i) CHECK(a.front[i].plan == b.front[i].plan);
}

TEST_CASE("a search after memory was let go has the result it has alone, and so has one meanwhile") {
  SearchJob job(2), alone(1);
  job.release();  // nothing was searched yet
  job.ask(small(), request_of(small()), false);
  for (int i = 0; i < 100; ++i) job.release();  // while it runs nothing goes
  job.wait();
  const auto before = job.latest();
  job.release();
  CHECK(job.latest() == before);
  const Scenario after = with_batch(small(), 48);
  job.ask(after, request_of(small()), true);  // what is known is ranked on another thread
  for (int i = 0; i < 100; ++i) job.release();
  job.wait();
  alone.ask(after, request_of(small()), false);
  alone.wait();
  const engine::SearchResult &a = job.latest()->result, &b = alone.latest()->result;
  CHECK(a.rejected == b.rejected);
  REQUIRE(a.best.size() == b.best.size());
  for (std::size_t i = 0; i < a.best.size(); ++i) CHECK(a.best[i].plan == b.best[i].plan);
}

TEST_CASE("a cancelled search leaves the result before it, and is taken up again when asked to") {
  SearchJob job(2);
  job.ask(small(), request_of(small()), false);
  job.wait();
  job.ask(large(), request_of(large()), false);
  job.cancel();
  CHECK(job.state() == SearchJob::State::cancelled);
  job.wait();
  CHECK(job.latest()->query.scenario == small());
  job.ask(large(), request_of(large()), false);  // as the window does in every frame
  CHECK(job.state() == SearchJob::State::cancelled);
  job.again();
  job.ask(large(), request_of(large()), false);
  CHECK(job.state() == SearchJob::State::running);
  job.wait();
  CHECK(job.latest()->query.scenario == large());
}

TEST_CASE("another request ends the state of being cancelled") {
  SearchJob job(1);
  job.ask(large(), request_of(large()), false);
  job.cancel();
  job.ask(small(), request_of(small()), false);
  job.wait();
  CHECK(job.state() == SearchJob::State::idle);
  REQUIRE(job.latest());
  CHECK(job.latest()->query.scenario == small());
}

TEST_CASE("a job may go while it searches") {
  SearchJob job(2);
  job.ask(large(), request_of(large()), false);
  job.ask(with_batch(large(), 64), request_of(large()), true);
}

TEST_CASE("whoever waits for results is told of each") {
  SearchJob job(1);
  std::atomic<int> told{0};
  job.set_wake([&told] { ++told; });
  job.ask(small(), request_of(small()), false);
  job.wait();
  job.ask(with_batch(small(), 32), request_of(small()), false);
  job.wait();
  job.set_wake({});
  CHECK(told >= 2);  // and of what was known for the second, where that came before it
}

TEST_CASE("a scenario that serves is searched as in place, and takes the place of one that trains") {
  static const io::PresetLibrary library;
  const Scenario serving = io::load_scenario("llama3-70b-serving-8-h100", library).value();
  const engine::ServingRequest request = engine::serving_request_of(serving);
  const engine::ServingSearchResult here = engine::search_serving(serving, request);
  SearchJob job(3);
  job.ask(large(), request_of(large()), false);
  job.ask(serving, request, false);
  job.wait();
  const auto found = job.latest();
  REQUIRE(found);
  CHECK(found->query.serves());
  CHECK(found->query.serving == request);
  CHECK(found->finished());
  CHECK(found->serving.plans == here.plans);
  REQUIRE(found->serving.best.size() == here.best.size());
  for (std::size_t i = 0; i < here.best.size(); ++i) CHECK(found->serving.best[i].plan == here.best[i].plan);
}

TEST_CASE("without patience a held control stops what runs for the newest, as one let go does") {
  SearchJob job(2, 0);
  job.ask(large(), request_of(large()), true);
  job.ask(small(), request_of(small()), true);
  job.wait();
  REQUIRE(job.latest());
  CHECK(job.latest()->query.scenario == small());
}
