#include "engine/blocks/solve.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <tuple>

#include <fmt/format.h>

#include "engine/base/read_number.h"

namespace roofscape::engine {

namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
// Closer than this share of what was asked is what was asked: formulas round in their last digits.
constexpr double kClose = 1e-13;

bool is_plain_number(const BlockInput& in) { return in.kind == InputKind::number || in.kind == InputKind::integer; }

// Of these less is better: times, memory, money.
bool is_spent(const BlockOutput& output) {
  constexpr std::array<std::string_view, 8> kSpent{"s", "h", "days", "years", "B", "GiB", "USD", "USD/token"};
  return std::find(kSpent.begin(), kSpent.end(), quantity(output.q).unit.symbol) != kSpent.end();
}

// The question with one input open.
struct Open {
  const BlockCall& given;
  const BlockInput& in;
  const BlockOutput& output;
  double wanted;          // of words and truths 1
  std::string_view word;  // of a word
  const Chip* chip;
  const TransformerShape* model;
  mutable int trials = 0;

  // NaN where the block has no answer.
  double at(double x) const {
    ++trials;
    BlockCall call = given;
    call.assume(in.name, x);
    call.complete(chip, model);
    const BlockResult result = run_block_plain(call);
    const BlockAnswer* answer = result.error ? nullptr : result.find(output.name);
    if (answer == nullptr || answer->is_absent()) return kUnknown;
    if (output.kind == OutputKind::word) return answer->word == word ? 1 : 0;
    return answer->numbers.front();
  }
  // -1 below what is wanted, 0 there, 1 above.
  int side(double y) const {
    if (std::abs(y - wanted) <= kClose * std::abs(wanted)) return 0;
    return y < wanted ? -1 : 1;
  }
};

struct Point {
  double x = kUnknown, y = kUnknown;
  bool is_known() const { return std::isfinite(y); }
};

// Trial values from the low end of the domain up, doubling. What is simulated is played through each time: only as far
// as that takes no longer than a person waits.
std::vector<double> trials(const BuildingBlock& block, const BlockInput& in) {
  std::vector<double> out;
  const bool whole = in.is_whole();
  const double least = whole ? std::max(in.low, 1.0) : block.is_simulated ? 0x1p-14 : 0x1p-70;
  const double most = std::min(in.high, block.is_simulated ? 1024.0 : whole ? 1e12 : 0x1p110);
  if (in.low >= 0 && !in.above_low) out.push_back(in.low);
  for (double x = least; x < most; x *= 2)
    if (x > in.low) out.push_back(x);
  out.push_back(most);
  // Ways that divide a size are among the first whole numbers, if not among these powers; and where something is cut
  // into whole parts, an output jumps up and down between them.
  constexpr int kFirst = 64;
  if (in.high > 1 && !block.is_simulated)
    for (int n = 3; n <= kFirst; ++n)
      if (n > in.low && n < most) out.push_back(n);
  // Shares come close to one another at the high end.
  if (in.high <= 1 && !whole)
    for (double rest = 0.25; rest > 1e-6; rest /= 2) out.push_back(in.high - rest);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

// Sizes that have to come out even have answers at multiples only: of the least one, if 1 has none. 0: every value is
// tried.
double stride_of(const Open& open, const std::vector<double>& xs) {
  constexpr int kMostParts = 1024;
  constexpr double kOdd = 1.0123456789;  // of a size that comes out even one that does not
  if (open.in.is_whole() && std::isfinite(open.at(std::max(open.in.low, 1.0)))) return 0;
  if (!open.in.is_whole()) {
    const auto first = std::find_if(xs.begin(), xs.end(), [&](double x) { return std::isfinite(open.at(x)); });
    if (first != xs.end() && (*first * kOdd > open.in.high || std::isfinite(open.at(*first * kOdd)))) return 0;
  }
  for (int n = 2; n <= kMostParts && n <= open.in.high; ++n)
    if (n > open.in.low && std::isfinite(open.at(n))) return n;
  return 0;
}

double between(const BlockInput& in, double stride, double a, double b) {
  if (stride > 0) return a + stride * std::floor((b - a) / stride / 2);
  if (in.is_whole()) return std::floor(a + (b - a) / 2);
  return a > 0 ? std::sqrt(a) * std::sqrt(b) : a + (b - a) / 2;
}

// The last point on the side of `from` and the first on another, between the two; of whole numbers neighbours, but for
// those without an answer, such as parts that do not come out even.
std::pair<Point, Point> boundary(const Open& open, double stride, Point from, Point to) {
  constexpr int kMostSteps = 300, kMostSkipped = 64;
  const int side = open.side(from.y);
  for (int step = 0; step < kMostSteps; ++step) {
    Point mid;
    mid.x = between(open.in, stride, from.x, to.x);
    if (!(mid.x > from.x && mid.x < to.x)) break;
    mid.y = open.at(mid.x);
    if (open.in.is_whole() && stride == 0)
      for (int i = 0; i < kMostSkipped && !mid.is_known() && mid.x + 1 < to.x; ++i)
        mid.x += 1, mid.y = open.at(mid.x);
    if (!mid.is_known()) break;
    (open.side(mid.y) == side ? from : to) = mid;
  }
  return {from, to};
}

// Where the answers begin or end between a point that has one and one that has none: the outermost that has.
Point edge(const Open& open, double stride, Point has, double none) {
  constexpr int kMostSteps = 200;
  for (int step = 0; step < kMostSteps; ++step) {
    const double mid = has.x < none ? between(open.in, stride, has.x, none) : between(open.in, stride, none, has.x);
    if (mid == has.x || mid == none) break;
    const double y = open.at(mid);
    if (std::isfinite(y))
      has = {mid, y};
    else
      none = mid;
  }
  // The end itself, which halving comes no closer to than its roots are rounded.
  const double end = std::strtod(fmt::format("{:.12g}", has.x).c_str(), nullptr);
  if (const double y = open.at(end); std::isfinite(y)) has = {end, y};
  return has;
}

// A short number where it is as good.
Point shortened(const Open& open, double stride, const Point& p) {
  if (open.output.kind != OutputKind::number || open.in.is_whole() || stride > 0 || open.side(p.y) != 0) return p;
  for (const int digits : {3, 6, 9, 12}) {
    const double x = std::strtod(fmt::format("{:.{}g}", p.x, digits).c_str(), nullptr);
    if (x == p.x || x < open.in.low || x > open.in.high) continue;
    const double y = open.at(x);
    if (std::isfinite(y) && open.side(y) == 0) return {x, y};
  }
  return p;
}

std::optional<BlockError> read_wanted(const BlockOutput& output, const std::string& text, double& wanted) {
  wanted = 1;
  const std::string name(output.name);
  if (output.kind == OutputKind::word) {
    if (std::find(output.words.begin(), output.words.end(), text) != output.words.end()) return std::nullopt;
    std::string all;
    for (const std::string_view w : output.words) all += (all.empty() ? "" : ", ") + std::string(w);
    return BlockError{name, say("error.solve.no_word", text), say("error.domain.choice", all)};
  }
  if (output.kind == OutputKind::holds) {
    if (text != "true" && text != "false")
      return BlockError{name, say("error.solve.no_truth", text), say("error.domain.boolean")};
    wanted = text == "true" ? 1 : 0;
    return std::nullopt;
  }
  const NumberReading read = read_number(text, quantity(output.q).unit);
  if (!read) return BlockError{name, read.problem, read.remedy};
  wanted = *read;
  return std::nullopt;
}

// The one input that the output needs and nobody gave.
std::optional<BlockError> find_unknown(const BlockCall& call, const BlockOutput& output, const Chip* chip,
                                       const TransformerShape* model, std::string& input) {
  BlockCall whole = call;
  whole.complete(chip, model);
  const BlockResult result = run_block(whole);
  const std::string name(output.name);
  if (result.error) return result.error;
  const BlockAnswer* answer = result.find(output.name);
  std::vector<std::string> unknown = answer->missing;
  std::erase_if(unknown, [&](const std::string& n) { return !is_plain_number(*call.block().find_input(n)); });
  if (unknown.size() == 1) {
    input = unknown.front();
    // What it follows from, where nothing else is said, is what a person has in mind: the length, not that of the keys.
    const BlockInput& in = *call.block().find_input(input);
    for (const BlockInput& other : call.block().inputs)
      if (&other != &in && is_plain_number(other) && !whole.value(other.name).is_known() &&
          whole.is_decided_by(in, {std::string(other.name)})) {
        input = other.name;
        break;
      }
    return std::nullopt;
  }
  std::string names;
  for (const std::string& n : unknown) names += (names.empty() ? "" : ", ") + n;
  if (!unknown.empty()) return BlockError{name, say("error.solve.several"), say("error.solve.several.remedy", names)};
  for (const BlockInput& in : call.block().inputs)
    if (is_plain_number(in) && !call.is_typed(in.name)) names += (names.empty() ? "" : ", ") + std::string(in.name);
  return BlockError{name, say("error.solve.decided"), say("error.solve.decided.remedy", names)};
}

std::string number_text(double x) { return fmt::format("{:.6g}", x); }

}  // namespace

bool can_be_wanted(const BlockOutput& output) {
  return output.kind == OutputKind::number || output.kind == OutputKind::holds ||
         (output.kind == OutputKind::word && !output.words.empty());
}

std::vector<std::string> inputs_behind(const BlockCall& call, const BlockOutput& output) {
  const BlockResult result = run_block(call);
  const BlockAnswer* answer = result.find(output.name);
  std::vector<std::string> ids, missing;
  if (answer != nullptr) {
    missing = answer->missing;
    for (const Derivation& d : derivations(result, *answer))
      for (const DerivationLine& line : d.lines)
        if (line.is_input) ids.emplace_back(line.id);
  }
  std::vector<std::string> typed, others;
  for (const BlockInput& in : call.block().inputs) {
    // What is simulated does not say what it follows from.
    const bool is_behind = ids.empty() && missing.empty()
                               ? true
                               : std::find(ids.begin(), ids.end(), quantity(in.q).id) != ids.end() ||
                                     std::find(missing.begin(), missing.end(), in.name) != missing.end();
    if (is_plain_number(in) && is_behind)
      (call.is_typed(in.name) || !call.value(in.name).is_known() ? typed : others).emplace_back(in.name);
  }
  typed.insert(typed.end(), others.begin(), others.end());
  return typed;
}

std::optional<BlockError> solve_block(BlockCall& call, const WantedOutput& wanted, std::string_view input,
                                      const Chip* chip, const TransformerShape* model, SolvedInput& found) {
  const BuildingBlock& block = call.block();
  const auto output = std::find_if(block.outputs.begin(), block.outputs.end(),
                                   [&](const BlockOutput& o) { return o.name == wanted.output; });
  if (output == block.outputs.end() || !can_be_wanted(*output))
    return BlockError{wanted.output, say("error.solve.cannot"), say("error.solve.cannot.remedy")};
  double value = 0;
  if (const auto wrong = read_wanted(*output, wanted.text, value)) return wrong;
  std::string name(input);
  if (name.empty())
    if (const auto wrong = find_unknown(call, *output, chip, model, name)) return wrong;
  const BlockInput* in = block.find_input(name);
  if (in == nullptr || !is_plain_number(*in)) return BlockError{"solve", say("error.solve.no_number", name), {}};
  if (call.is_typed(name)) return BlockError{name, say("error.solve.given"), say("error.solve.given.remedy")};

  const Open open{call, *in, *output, value, wanted.text, chip, model};
  const bool is_number = output->kind == OutputKind::number;
  Point last, low, high;  // the trial before; the least and the greatest output
  bool is_found = false;
  Point taken, other;
  std::vector<double> xs = trials(block, *in);
  const double stride = block.is_simulated ? 0 : stride_of(open, xs);
  if (stride > 0)
    for (double& x : xs) x = std::min(std::max(x, 1.0) * stride, stride * std::floor(in->high / stride));
  const auto meet = [&](const Point& p) {
    if (!low.is_known() || p.y < low.y) low = p;
    if (!high.is_known() || p.y > high.y) high = p;
    if (last.is_known() && open.side(last.y) != open.side(p.y)) {
      std::tie(other, taken) = boundary(open, stride, last, p);
      is_found = true;
    } else if (is_number && open.side(p.y) == 0) {
      taken = p, other = Point{};
      is_found = true;
    }
    last = p;
  };
  bool was_known = true;
  for (std::size_t i = 0; i < xs.size() && !is_found; ++i) {
    const Point p{xs[i], open.at(xs[i])};
    if (i > 0 && p.is_known() && !was_known) meet(edge(open, stride, p, xs[i - 1]));
    if (i > 0 && !p.is_known() && was_known && last.is_known()) meet(edge(open, stride, last, xs[i]));
    if (p.is_known() && !is_found) meet(p);
    was_known = p.is_known();
  }
  if (!is_found && last.is_known() && !is_number && open.side(last.y) == 0) taken = low, is_found = true;
  if (!is_found) {
    if (!low.is_known()) return BlockError{wanted.output, say("error.solve.no_value", name), {}};
    return BlockError{
        wanted.output, say("error.solve.never", wanted.text, name),
        is_number ? say("error.solve.never.remedy", number_text(low.y), number_text(high.y)) : Sentence()};
  }
  // On which side of the boundary.
  const bool is_other =
      is_number ? open.side(taken.y) != 0 && other.is_known() && (open.side(other.y) < 0) == is_spent(*output)
                : open.side(taken.y) != 0;
  if (is_other) std::swap(taken, other);
  taken = shortened(open, stride, taken);
  found.input = name, found.wanted = wanted, found.value = taken.x;
  if (output->kind == OutputKind::number) found.reached = taken.y;
  if ((in->is_whole() || stride > 0) && other.is_known() && open.side(taken.y) != 0 && is_number)
    found.next_value = other.x, found.next_reached = other.y;
  if (is_number) found.residual = taken.y - value;
  found.trials = open.trials;
  call.assume(name, taken.x);
  return std::nullopt;
}

}  // namespace roofscape::engine
