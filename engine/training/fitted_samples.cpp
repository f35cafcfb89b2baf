#include "engine/training/fitted_samples.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/data/columns/column_step.h"
#include "engine/data/columns/raw_columns.h"
#include "engine/data/decode.h"
#include "engine/data/loader.h"
#include "engine/data/sound_rate.h"

namespace loom {
namespace {

enum class Fit { no, values, shape };  // as many values, or the very shape

// `why`: what the preparation says where it cannot be done.
Fit fitOf(const Variable& stored, const SampleTaken& taken, const std::vector<Json>& steps, Shape* made = nullptr,
          std::string* why = nullptr) {
  try {
    const Shape shape = preparedShape(stored, withSampleSteps(taken.prepare, steps));
    if (made) *made = shape;
    return shape == taken.shape ? Fit::shape : shape.elements() == taken.shape.elements() ? Fit::values : Fit::no;
  } catch (const Error& error) {
    if (why) *why = error.message();
    return Fit::no;
  }
}

Json colours(const SampleTaken& taken, const char* to) {
  return {{"step", "Colours"}, {"to", to}, {"variable", taken.variable}};
}

// As the run's rate has it, which alone changes how long a sound is before its preparation.
Variable storedAs(const Sample& sample, const SampleTaken& taken, const std::vector<Json>& steps) {
  Variable stored{.name = taken.variable,
                  .label = {},
                  .kind = sample.kind,
                  .shape = sample.shape,
                  .smallest = {},
                  .type = sample.type,
                  .elementLabels = {}};
  const int rate = rateBeforePacking(taken.variable, withSampleSteps(taken.prepare, steps));
  if (sample.kind == VariableKind::wave && sample.rate > 0 && rate > 0 && rate != sample.rate)
    stored.shape[0] = framesAtRate(sample.shape[0], sample.rate, rate);
  return stored;
}

std::int64_t channelsOf(const Sample& sound) {
  return sound.shape.rank() > 1 ? sound.shape[1] : 1;
}

// The mean of all channels, in each of `channels`.
void mix(Sample& sound, std::int64_t channels) {
  const std::int64_t had = channelsOf(sound), frames = sound.shape[0];
  std::vector<float> in(static_cast<std::size_t>(frames * had)), out(static_cast<std::size_t>(frames * channels));
  std::memcpy(in.data(), sound.bytes.data(), in.size() * sizeof(float));
  for (std::int64_t frame = 0; frame < frames; ++frame) {
    double sum = 0;
    for (std::int64_t channel = 0; channel < had; ++channel) sum += in[static_cast<std::size_t>(frame * had + channel)];
    for (std::int64_t channel = 0; channel < channels; ++channel)
      out[static_cast<std::size_t>(frame * channels + channel)] = static_cast<float>(sum / static_cast<double>(had));
  }
  sound.bytes.resize(out.size() * sizeof(float));
  std::memcpy(sound.bytes.data(), out.data(), sound.bytes.size());
  sound.shape = {frames, channels};
}

// WAV of floats of 32 bits.
void writeSound(const std::filesystem::path& file, const Sample& sound) {
  std::string text;
  const auto number = [&](std::uint32_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
  };
  const auto channels = static_cast<std::uint32_t>(channelsOf(sound)),
             bytes = static_cast<std::uint32_t>(sound.bytes.size());
  text += "RIFF";
  number(36 + bytes, 4);
  text += "WAVEfmt ";
  number(16, 4);
  number(3, 2);
  number(channels, 2);
  number(static_cast<std::uint32_t>(sound.rate), 4);
  number(static_cast<std::uint32_t>(sound.rate) * channels * 4, 4);
  number(channels * 4, 2);
  number(32, 2);
  text += "data";
  number(bytes, 4);
  text.append(reinterpret_cast<const char*>(sound.bytes.data()), sound.bytes.size());
  writeFileAtomically(file, text);
}

std::string whatOf(VariableKind kind, const Shape& shape) {
  if (kind == VariableKind::image && shape.rank() == 3)
    return fmt::format("a picture of {} x {} with {}", shape[2], shape[1],
                       shape[0] == 1 ? "1 channel" : fmt::format("{} channels", shape[0]));
  if (kind == VariableKind::wave && shape.rank() == 2)
    return fmt::format("a sound of {} steps with {}", shape[0],
                       shape[1] == 1 ? "1 channel" : fmt::format("{} channels", shape[1]));
  return fmt::format("an array of {}", shape.toString());
}

// Holds one file after another against the network and what those before it were.
class Fitting {
 public:
  Fitting(const SampleTaken& taken, std::filesystem::path folder) : m_taken(taken), m_folder(std::move(folder)) {
    if (const auto step = rateStep(taken)) m_fitted.steps.push_back(*step);
  }

  void add(const std::filesystem::path& file) {
    try {
      decodeFile(file, m_sample, m_scratch);
      const std::string reason = fit(file);
      if (!reason.empty()) m_fitted.refused.push_back({file.string(), reason});
    } catch (const Error& error) {
      if (error.code() != ErrorCode::badData && error.code() != ErrorCode::missingFile &&
          error.code() != ErrorCode::inputOutput)
        throw;
      m_fitted.refused.push_back({file.string(), error.message()});
    }
  }

  FittedSamples finish() {
    if (m_colours) m_fitted.steps.push_back(*m_colours);
    for (const auto& [done, names] : m_done) m_fitted.notes.push_back(filesText(names) + ": " + done);
    return std::move(m_fitted);
  }

 private:
  // Why it is no sample of the network's; empty where it is one now.
  std::string fit(const std::filesystem::path& file) {
    const std::string name = file.filename().string();
    Shape made;
    std::string why;
    Variable stored = storedAs(m_sample, m_taken, m_fitted.steps);
    const Shape first = stored.shape;
    const std::optional<Json> colour = stored.kind == VariableKind::image ? colourStep(stored, m_taken) : std::nullopt;
    bool fits = colour || fitOf(stored, m_taken, m_fitted.steps, &made, &why) != Fit::no;
    std::vector<std::string> done;
    if (!fits && stored.kind == VariableKind::wave)
      for (const std::int64_t channels : {std::int64_t{1}, m_taken.shape.rank() > 1 ? m_taken.shape[-1] : 2}) {
        if (fits || channels == channelsOf(m_sample) || (channels > 1 && channelsOf(m_sample) > 1)) continue;
        stored.shape = {first[0], channels};
        fits = fitOf(stored, m_taken, m_fitted.steps) != Fit::no;
        if (!fits) continue;
        done.push_back(
            channels == 1
                ? fmt::format("{} channels are mixed down to 1, which the network takes", channelsOf(m_sample))
                : fmt::format("the one channel stands in each of the {} that the network takes", channels));
        mix(m_sample, channels);
      }
    if (!fits) return refusal(first, made, why);
    if (const std::string other = otherThanFirst(stored, name); !other.empty()) return other;
    if (colour) {
      m_colours = colour;
      const std::int64_t to = (*colour)["to"] == "grey" ? 1 : 3;
      done.push_back(
          fmt::format("{} brought to {}{}",
                      m_sample.shape[0] == 1 ? "1 channel is" : fmt::format("{} channels are", m_sample.shape[0]),
                      to == 1 ? "grey, which the network takes" : "the 3 of RGB, which the network takes",
                      m_sample.shape[0] % 2 == 0 ? "; transparency is left out" : ""));
    }
    const int rate = rateBeforePacking(m_taken.variable, withSampleSteps(m_taken.prepare, m_fitted.steps));
    if (stored.kind == VariableKind::wave && m_sample.rate > 0 && rate > 0 && rate != m_sample.rate)
      done.push_back(fmt::format("brought from {} to {} samples a second, the rate that the run was trained at",
                                 m_sample.rate, rate));
    for (const std::string& each : done) m_done[each].push_back(name);
    m_fitted.good.push_back(file);
    m_fitted.read.push_back(file);
    if (stored.kind == VariableKind::wave && stored.shape[1] != first[1]) {
      m_fitted.read.back() = m_folder / fmt::format("{}.wav", m_fitted.good.size());
      writeSound(m_fitted.read.back(), m_sample);
    }
    return {};
  }

  std::string refusal(const Shape& first, const Shape& made, const std::string& why) const {
    const std::string is = fmt::format("it is {}", whatOf(m_sample.kind, first));
    const Shape& wanted = m_taken.shape;
    std::vector<std::string> columns;
    for (RawColumn& each : rawColumnsOf(m_taken.prepare, m_taken.variable, wanted.elements()))
      columns.push_back(std::move(each.name));
    if (!columns.empty())
      return fmt::format("{}, but the network takes rows of a table; name a CSV with the columns {}", is,
                         fmt::join(columns, ", "));
    if (!why.empty()) return fmt::format("{}, which cannot be prepared as the run's samples were: {}", is, why);
    const bool picture = m_sample.kind == VariableKind::image && wanted.rank() == 3;
    const bool sound = m_sample.kind == VariableKind::wave && wanted.rank() == 2;
    return fmt::format("{}{}, but the network takes {}; {}", is,
                       made == first ? std::string() : fmt::format(" ({} after preparation)", made.toString()),
                       picture ? whatOf(VariableKind::image, wanted)
                       : sound ? whatOf(VariableKind::wave, wanted)
                               : fmt::format("{} values ({})", wanted.elements(), wanted.toString()),
                       picture ? fmt::format("bring it to {} x {}", wanted[2], wanted[1])
                       : sound ? fmt::format("cut it or fill it up to {} steps", wanted[0])
                               : std::string("name files of that shape"));
  }

  // Samples of one prediction are stored as one column, which has one kind and one depth.
  std::string otherThanFirst(const Variable& stored, const std::string& name) {
    if (m_first.empty()) {
      m_first = name;
      m_kind = stored.kind;
      m_type = stored.type;
      return {};
    }
    if (stored.kind != m_kind)
      return fmt::format("it is {}, but {} is none; predict it by itself", whatOf(stored.kind, stored.shape), m_first);
    if (stored.type == m_type) return {};
    return fmt::format("its numbers are of {}, but those of {} are of {}; predict it by itself", toString(stored.type),
                       m_first, toString(m_type));
  }

  const SampleTaken& m_taken;
  std::filesystem::path m_folder;
  FittedSamples m_fitted;
  Sample m_sample;
  std::vector<std::byte> m_scratch;
  std::optional<Json> m_colours;
  std::map<std::string, std::vector<std::string>> m_done;  // what was done, and to which files
  std::string m_first;
  VariableKind m_kind = VariableKind::image;
  DataType m_type = DataType::u8;
};

}  // namespace

std::vector<Json> withSampleSteps(const std::vector<Json>& prepare, const std::vector<Json>& steps) {
  std::vector<Json> all = columnStepsOf(prepare);
  all.insert(all.end(), steps.begin(), steps.end());
  for (Json& step : sampleStepsOf(prepare)) all.push_back(std::move(step));
  return all;
}

std::optional<Json> rateStep(const SampleTaken& taken) {
  if (taken.rate < kLowestRate || taken.rate > kHighestRate || rateBeforePacking(taken.variable, taken.prepare) > 0)
    return std::nullopt;
  return Json({{"step", "Resample"}, {"rate", taken.rate}, {"variable", taken.variable}});
}

std::optional<Json> colourStep(const Variable& stored, const SampleTaken& taken) {
  const auto fit = [&](const std::vector<Json>& steps) { return fitOf(stored, taken, steps); };
  const Json rgb = colours(taken, "rgb"), grey = colours(taken, "grey");
  for (const Fit wanted : {Fit::shape, Fit::values}) {
    if (fit({}) == wanted) return std::nullopt;
    for (const Json& step : {rgb, grey})
      if (fit({step}) == wanted) return step;
  }
  return std::nullopt;
}

FittedSamples fitSamples(const std::vector<std::filesystem::path>& files, const SampleTaken& taken,
                         const std::filesystem::path& folder) {
  Fitting fitting(taken, folder);
  for (const std::filesystem::path& file : files) fitting.add(file);
  return fitting.finish();
}

std::string filesText(const std::vector<std::string>& names) {
  constexpr std::size_t kNamed = 3;
  const std::size_t told = names.size() > kNamed + 1 ? kNamed : names.size();
  std::string text;
  for (std::size_t i = 0; i < told; ++i) text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return told < names.size() ? fmt::format("{} and {} more", text, names.size() - told) : text;
}

}  // namespace loom
