// What the doctor says of sounds, and of arrays that differ in length.
#include <fmt/ranges.h>

#include <algorithm>

#include "engine/data/check.h"
#include "engine/data/sound_rate.h"

namespace loom {

int ClipFacts::usualRate() const {
  int usual = 0;
  std::int64_t most = 0;
  for (const auto& [rate, lengths] : byRate)
    if (rate > 0 && lengths.rows > most) most = lengths.rows, usual = rate;
  return usual;
}

ClipLengths lengthsAt(const ClipFacts& clips, int rate) {
  ClipLengths all;
  for (const auto& [own, lengths] : clips.byRate) {
    const bool other = own > 0 && rate > 0;
    const std::int64_t least = other ? framesAtRate(lengths.shortest, own, rate) : lengths.shortest;
    const std::int64_t most = other ? framesAtRate(lengths.longest, own, rate) : lengths.longest;
    all.shortest = all.shortest == 0 ? least : std::min(all.shortest, least);
    all.longest = std::max(all.longest, most);
  }
  return all;
}

std::vector<Fault> clipFaults(const ClipFacts& clips, int rate) {
  std::vector<Fault> faults;
  Fault fault{.kind = FaultKind::mixedKinds,
              .severity = FaultSeverity::warning,
              .line = 1,
              .column = clips.column,
              .variables = {}};
  const bool mixed = rate == 0 && clips.byRate.size() > 1;
  if (mixed) {
    std::vector<int> rates;
    for (const auto& [each, lengths] : clips.byRate) rates.push_back(each);
    fault.found = fmt::format("the sounds have {} samples a second", fmt::join(rates, " and "));
    fault.wanted = "a network hears the same sound in them only at one rate";
    fault.remedy = "add the step Resample to prepare";
    rate = clips.usualRate();
    fault.step = {{"step", "Resample"}, {"rate", rate}, {"variable", clips.variable}};
    faults.push_back(fault);
  }
  const auto [shortest, longest] = lengthsAt(clips, rate);
  if (shortest >= longest) return faults;
  const int heard = rate > 0 ? rate : clips.usualRate();
  const auto seconds = [heard](std::int64_t steps) { return static_cast<double>(steps) / heard; };
  fault.kind = FaultKind::mixedShapes;
  fault.found = fmt::format("the clips have {} to {} steps", shortest, longest);
  if (heard > 0) fault.found += fmt::format(" ({:.2f} to {:.2f} s)", seconds(shortest), seconds(longest));
  if (mixed) fault.found += fmt::format(" at {} samples a second", rate);
  fault.wanted = "a network takes samples of one length";
  fault.remedy =
      fmt::format("prepare the dataset with a Crop to at most {} or a Pad to at least {} steps", shortest, longest);
  fault.step = {{"step", "Pad"}, {"to", {longest}}, {"variable", clips.variable}};
  faults.push_back(std::move(fault));
  return faults;
}

}  // namespace loom
