#include "engine/data/sound_rate.h"

#include <cmath>
#include <deque>
#include <memory>
#include <mutex>
#include <numbers>
#include <numeric>

#include "engine/data/prepare_step.h"

namespace loom {
namespace {

// The filter by phase: taps[phase * count + j] is the weight of the frame `first + j` beyond the last one before an
// output that lies phase / up of a frame behind it.
struct Filter {
  std::int64_t up = 1, down = 1, first = 0, count = 0;
  std::vector<double> taps;
};

std::vector<double> lowPass(std::int64_t half, std::int64_t most) {
  constexpr double kBeta = 5;
  std::vector<double> filter(static_cast<std::size_t>(2 * half + 1));
  const double floor = std::cyl_bessel_i(0.0, kBeta);
  double sum = 0;
  for (std::int64_t i = -half; i <= half; ++i) {
    const double x = static_cast<double>(i) / static_cast<double>(most), at = static_cast<double>(i) / half;
    const double angle = std::numbers::pi * x;
    double& tap = filter[static_cast<std::size_t>(i + half)];
    tap = (i == 0 ? 1 : std::sin(angle) / angle) * std::cyl_bessel_i(0.0, kBeta * std::sqrt(1 - at * at)) / floor;
    sum += tap;
  }
  for (double& tap : filter) tap /= sum;
  return filter;
}

std::shared_ptr<const Filter> makeFilter(std::int64_t up, std::int64_t down) {
  const std::int64_t most = std::max(up, down), half = 10 * most;
  const std::vector<double> whole = lowPass(half, most);
  auto filter = std::make_shared<Filter>(
      Filter{.up = up, .down = down, .first = -(half / up), .count = half / up + (half + up - 1) / up + 1, .taps = {}});
  filter->taps.resize(static_cast<std::size_t>(up * filter->count));
  for (std::int64_t phase = 0; phase < up; ++phase)
    for (std::int64_t j = 0; j < filter->count; ++j)
      if (const std::int64_t at = phase - (filter->first + j) * up + half; at >= 0 && at <= 2 * half)
        filter->taps[static_cast<std::size_t>(phase * filter->count + j)] =
            static_cast<double>(up) * whole[static_cast<std::size_t>(at)];
  return filter;
}

// A dataset has few rates: the newest filters are kept for all threads.
std::shared_ptr<const Filter> filterOf(std::int64_t up, std::int64_t down) {
  constexpr std::size_t kKept = 8;
  static std::mutex guard;
  static std::deque<std::shared_ptr<const Filter>> kept;
  const std::lock_guard lock(guard);
  for (const auto& each : kept)
    if (each->up == up && each->down == down) return each;
  kept.push_front(makeFilter(up, down));
  if (kept.size() > kKept) kept.pop_back();
  return kept.front();
}

}  // namespace

std::int64_t framesAtRate(std::int64_t frames, int from, int to) {
  const std::int64_t common = std::gcd(from, to), up = to / common, down = from / common;
  return (frames * up + down - 1) / down;
}

void resampleSound(std::span<const float> in, std::int64_t channels, int from, int to, std::vector<float>& out) {
  const std::int64_t common = std::gcd(from, to);
  const std::shared_ptr<const Filter> filter = filterOf(to / common, from / common);
  const auto frames = static_cast<std::int64_t>(in.size()) / channels, made = framesAtRate(frames, from, to);
  out.resize(static_cast<std::size_t>(made * channels));
  for (std::int64_t m = 0; m < made; ++m) {
    const std::int64_t place = m * filter->down, phase = place % filter->up, first = place / filter->up + filter->first;
    const double* const taps = filter->taps.data() + phase * filter->count;
    const std::int64_t begin = std::max<std::int64_t>(0, -first), end = std::min(filter->count, frames - first);
    for (std::int64_t channel = 0; channel < channels; ++channel) {
      double sum = 0;
      for (std::int64_t j = begin; j < end; ++j)
        sum += taps[j] * static_cast<double>(in[static_cast<std::size_t>((first + j) * channels + channel)]);
      out[static_cast<std::size_t>(m * channels + channel)] = static_cast<float>(sum);
    }
  }
}

void bringToRate(Sample& sample, int rate) {
  if (sample.kind != VariableKind::wave || sample.rate <= 0 || rate <= 0 || sample.rate == rate) return;
  const std::int64_t channels = sample.shape.rank() > 1 ? sample.shape[1] : 1;
  Shape shape = sample.shape;
  shape[0] = framesAtRate(sample.shape[0], sample.rate, rate);
  checkSampleSize(shape, sample.type, fmt::format("the sound at {} samples a second", rate));
  thread_local std::vector<float> made;
  resampleSound({reinterpret_cast<const float*>(sample.bytes.data()), sample.bytes.size() / sizeof(float)}, channels,
                sample.rate, rate, made);
  const auto* const bytes = reinterpret_cast<const std::byte*>(made.data());
  sample.bytes.assign(bytes, bytes + made.size() * sizeof(float));
  sample.shape = shape;
  sample.rate = rate;
}

int rateBeforePacking(const std::string& variable, const std::vector<Json>& prepare) {
  const Variable sound{.name = variable, .kind = VariableKind::wave, .shape = {1, 1}, .smallest = {1, 1}};
  int rate = 0;
  for (const Json& step : prepare) {
    const PrepareStep* const kind = sampleStep(step);
    if (!kind) continue;
    if (!isSound(step, *kind)) break;
    if (!appliesTo(step, *kind, sound)) continue;
    if (!kind->beforePacking) break;
    if (kind->means == PrepareStep::Means::sounds) rate = static_cast<int>(Values(kind->entry, step).integer("rate"));
  }
  return rate;
}

}  // namespace loom
